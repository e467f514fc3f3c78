/**
 * A part of `npm run check`: luacheck must find nothing in the Lua files.
 *
 *     node verification/lua/check.ts
 *
 * A script is checked as Redis gets it, with the files that it includes: so a missing include is an undefined variable.
 * A file that belongs to no script is checked alone. Prints the warnings, and exits with 1 if there are any.
 */
import { findLuacheck } from "@drover/local-servers";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bridgeScripts } from "../../packages/bridge/src/scripts/bridge-scripts.ts";
import { loadedScripts } from "../../packages/queue/src/redis/lua/loaded-scripts.ts";
import { filesIn, type LuaLine, linesOf } from "./lines.ts";
import { repositoryFiles, root } from "../harness/repository-files.ts";

/** The lines of each script, with their places in files. */
const scripts = [...loadedScripts, ...Object.values(bridgeScripts)].map(({ lua }) => linesOf(lua));
const luacheck = await findLuacheck();
const folder = mkdtempSync(join(tmpdir(), "drover-lua-"));
try {
  const inScripts = await luacheck(["--config", join(root, ".luacheckrc"), ...written(scripts)], folder);
  const usedIn = new Set(scripts.flatMap(filesIn));
  const alone = await luacheck(
    repositoryFiles("*.lua").filter((path) => !usedIn.has(path)),
    root,
  );
  const warnings = [...placed(inScripts), ...alone];
  for (const warning of warnings) console.log(warning);
  if (warnings.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Writes the scripts into the folder; returns their file names. */
function written(all: readonly (readonly LuaLine[])[]): readonly string[] {
  return all.map((lines, i) => {
    writeFileSync(join(folder, `${i}.lua`), lines.map(({ text }) => text).join("\n"));
    return `${i}.lua`;
  });
}

/**
 * Warnings about scripts, with their places in files. A function or variable of a file counts as unused only if it is
 * unused in every script that contains the file.
 */
function placed(lines: readonly string[]): readonly string[] {
  const found = new Map<string, { readonly file: string | undefined; readonly scripts: Set<number> }>();
  for (const line of lines) {
    const [, script, at, column = "", warning = ""] = /^(\d+)\.lua:(\d+):(\d+): (.*)$/.exec(line) ?? [];
    if (script === undefined) throw new Error(`luacheck wrote another line than expected: ${line}`);
    const place = scripts[Number(script)]?.[Number(at) - 1];
    const text = `${place?.file ? `${place.file}:${place.line}:${column}` : `${place?.text}`}: ${warning}`;
    const same = found.get(text) ?? { file: place?.file, scripts: new Set() };
    found.set(text, same);
    same.scripts.add(Number(script));
  }
  return [...found].flatMap(([text, { file, scripts: those }]) => {
    const containing = scripts.filter((each) => file !== undefined && filesIn(each).includes(file)).length;
    return text.includes("(W211)") && those.size < containing ? [] : [text];
  });
}
