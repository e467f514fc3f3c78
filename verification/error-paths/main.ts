/**
 * `npm run error-paths`: which paths of shipped code that are run only after an error does no test take?
 *
 *     npm run error-paths                writes results.md
 *     npm run error-paths -- --all       prints every path, with the number of test files that take it
 *
 * An error path is a `catch` block, a handler of `.catch()`, the second one of `.then()`, or of an "error" event, and the
 * end of a `try` without `catch` when it is left by a throw: the `finally` block then runs on the way out. Retries are
 * among them, for they begin with one. Whether a path is taken is written down by a probe in it as it is entered
 * (verification/mutation/probes.ts), in the test's process and in all that it starts, also in those that are killed. The
 * tests are those of `npm test`; what they entered is kept with that of `npm run mutation`.
 *
 * Exits with 1 where a path is left that no test takes: take it in a test, or remove it.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { keptEntered, SHIPPED, stateFolder, type Entered } from "../mutation/entered-regions.ts";
import { regionsOf } from "../mutation/probes.ts";
import { shippedFiles } from "../mutation/shipped.ts";
import { report, summary, type Path } from "./report.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const { values } = parseArgs({ options: { all: { type: "boolean", default: false } } });
const paths = await pathsOf(await keptEntered(await stateFolder(repository), repository, process.env));
if (values.all) {
  for (const { file, line, kind, takenBy, code } of paths)
    console.log(`${takenBy} ${file}:${line} ${kind} ${code}`);
}
await writeFile(join(import.meta.dirname, "results.md"), report(paths));
console.log(summary(paths));
process.exitCode = paths.some(({ takenBy }) => takenBy === 0) ? 1 : 0;

async function pathsOf({ testFiles, stray }: Entered): Promise<readonly Path[]> {
  const taken = new Map<string, number>();
  for (const region of [...testFiles.flatMap(({ entered }) => entered), ...stray])
    taken.set(region, (taken.get(region) ?? 0) + 1);
  const paths: Path[] = [];
  for (const file of shippedFiles(repository, SHIPPED)) {
    const text = await readFile(join(repository, file), "utf8");
    for (const { start, errorPath } of regionsOf(file, text)) {
      if (errorPath === undefined) continue;
      const before = text.slice(0, start);
      const line = before.split("\n").length;
      const code = text.slice(before.lastIndexOf("\n") + 1, text.indexOf("\n", start)).trim();
      const takenBy = taken.get(`${file}:${start}`) ?? 0;
      paths.push({ file, line, kind: errorPath, code, takenBy });
    }
  }
  return paths;
}
