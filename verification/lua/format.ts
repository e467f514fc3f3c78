/**
 * A part of `npm run check` and `npm run format`: are all Lua files formatted as stylua does it, by stylua.toml?
 *
 *     node verification/lua/format.ts [--write]
 *
 * Names the files that differ, and exits with 1; with `--write`, formats them.
 */
import * as stylua from "@johnnymorganz/stylua";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryFiles, root } from "../harness/repository-files.ts";

/** The values of settings that are names. */
const names: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  syntax: stylua.LuaVersion,
  line_endings: stylua.LineEndings,
  indent_type: stylua.IndentType,
  quote_style: stylua.QuoteStyle,
  collapse_simple_statement: stylua.CollapseSimpleStatement,
  block_newline_gaps: stylua.BlockNewlineGaps,
};
const write = process.argv.includes("--write");
const settings = readFileSync(join(root, "stylua.toml"), "utf8");
const differing = repositoryFiles("*.lua").filter((path) => {
  const file = join(root, path);
  const text = readFileSync(file, "utf8");
  const formatted = format(path, text);
  if (formatted === text) return false;
  if (write) writeFileSync(file, formatted);
  return true;
});
for (const path of differing) console.log(`${path}: ${write ? "formatted" : "not formatted"}`);
if (differing.length > 0 && !write) {
  console.log("Format them with: npm run format");
  process.exitCode = 1;
}

function format(path: string, text: string): string {
  try {
    // It takes the configuration away: each call needs another one.
    return stylua.formatCode(text, configOf(settings), undefined, stylua.OutputVerification.Full);
  } catch (cause) {
    throw new Error(`${path} is not valid Lua: ${String(cause)}`, { cause });
  }
}

/** Reads a stylua.toml of plain lines, `name = value`: the library has no reader of its own. */
function configOf(toml: string): stylua.Config {
  const config = stylua.Config.new();
  for (const [line, name = "", value = ""] of toml.matchAll(/^(\w+) *= *"?(\w+)"?$/gm)) {
    const setting = names[name]?.[value] ?? (/^\d+$/.test(value) ? Number(value) : undefined);
    if (setting === undefined || !(name in config)) throw new Error(`stylua.toml: unknown setting ${line}`);
    Object.assign(config, { [name]: setting });
  }
  return config;
}
