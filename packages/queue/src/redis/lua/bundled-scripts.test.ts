import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { bundleModules } from "../../../../../infra/build-package.ts";
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

it("the published package contains the scripts", async () => {
  await bundleModules({ scripts: join(root, entry) }, join(folder, "lib"));
  expect(await scriptsOf(join(folder, "lib/scripts.js"))).toEqual(ours);
});
