/**
 * # Can a user without this repository use Drover?
 *
 *     npm run test:install
 *
 * Builds and packs the package `drover`, and publishes it in a registry of its own. Then, on a machine that has neither this
 * repository nor npm's cache (`empty-machine.ts`), does what docs/writing-a-function.md says: installs the package, makes a
 * function, tests it, builds it and starts it. Needs Linux, and npm's registry for the packages of others.
 */
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { join } from "node:path";
import { z } from "zod";
import { root } from "../harness/repository-files.ts";
import { openEmptyMachine } from "./empty-machine.ts";
import { findProblems, namesOf } from "./judge-package.ts";
import { npm, packPackage } from "./pack-package.ts";
import { startRegistry } from "./registry.ts";
import { step } from "./step.ts";
import { usePackage } from "./use-package.ts";

const begun = performance.now();
const sources = z.object({ exports: z.record(z.string(), z.string()) });

const { folder, manifest, tarball } = await step("build and pack the package", () => packPackage());
const names = await step("compare its exports with the sources", () => {
  const source = join(root, "packages/drover");
  const entries = Object.entries(
    sources.parse(JSON.parse(readFileSync(join(source, "package.json"), "utf8"))).exports,
  ).filter(([, file]) => file.endsWith(".ts"));
  const declared = Object.entries(manifest.exports).flatMap(([subpath, file]) =>
    typeof file === "string" ? [] : [[subpath, file.types] as const],
  );
  const expected = namesOf(source, Object.fromEntries(entries));
  assert.deepEqual(namesOf(folder, Object.fromEntries(declared)), expected);
  return expected;
});
await step("publint, arethetypeswrong", async () => assert.deepEqual(await findProblems(tarball), []));

const registry = await startRegistry({ manifest, tarball }, npm("config", "get", "registry").trim());
const machine = await openEmptyMachine(registry.url);
try {
  await usePackage(machine, manifest.version, names);
} finally {
  machine.close();
  registry.close();
}
console.log(
  `Installed, made, tested, built and started in ${((performance.now() - begun) / 1_000).toFixed(0)} s.`,
);
