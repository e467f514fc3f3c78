import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { bundle } from "../../../../../infra/bundle.ts";
import { folderOfTest } from "../../../../testing/src/folder.fixture.ts";
import { loadedScripts } from "./loaded-scripts.ts";

const root = fileURLToPath(new URL("../../../../..", import.meta.url));
const entry = "packages/queue/src/redis/lua/loaded-scripts.ts";

let folder: string;
beforeEach(() => void (folder = folderOfTest()));

/** The scripts of a bundle that was copied to a folder without any Lua file. */
async function scriptsOf(file: string): Promise<unknown> {
  copyFileSync(file, join(folder, "alone.mjs"));
  return z
    .object({ loadedScripts: z.array(z.object({ sha: z.string(), lua: z.string() })) })
    .parse(await import(join(folder, "alone.mjs"))).loadedScripts;
}
const ours = loadedScripts.map(({ sha, lua }) => ({ sha, lua }));

it("the bundle of an image contains the scripts", async () => {
  const { file } = await bundle("loaded-scripts", entry);
  expect(await scriptsOf(file)).toEqual(ours);
});

it("the bundle of a function that drover init has made contains the scripts", async () => {
  const template = readFileSync(join(root, "apps/cli/src/init/template/package.json"), "utf8");
  const { scripts } = z.object({ scripts: z.object({ build: z.string() }) }).parse(JSON.parse(template));
  expect(scripts.build).toMatch(/^esbuild src\/main\.ts .*--outfile=dist\/main\.mjs/);
  const out = join(folder, "out/main.mjs");
  const command = scripts.build.replace("src/main.ts", entry).replace("dist/main.mjs", out);
  execFileSync("sh", ["-c", `node_modules/.bin/${command}`], { cwd: root, stdio: "ignore" });
  expect(await scriptsOf(out)).toEqual(ours);
});
