/**
 * `npm run mutation`: how many of the bugs that a tool makes do the tests notice?
 *
 *     npm run mutation                                          60 mutants of each package; writes results.md
 *     npm run mutation -- --package runtime --count 20 --seed 2 a part, printed
 *     npm run mutation -- --again                               those that were not noticed, and have no reason, once more
 *
 * Stryker lists the possible changes (mutants.ts), the compiler refuses what has type errors, and a seed draws from the rest
 * (sample.ts). Which test files enter a changed place, themselves or by processes that they start, is found by one run of
 * all tests with probes in the code (probes.ts). Each mutant is written into a clone of the last commit (tree.ts), where
 * every process runs it, and those test files are run until one fails (judge.ts). The checkout itself is never changed.
 *
 * A command that was stopped goes on where it was: what is known is kept in .cache/mutation for as long as no shipped file
 * changes. Survivors for which there is a reason are listed in explained.ts.
 */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { keptEntered, stateFolder, type TestFile } from "./entered-regions.ts";
import { explanation } from "./explained.ts";
import { isNoticed, judge } from "./judge.ts";
import { openStryker, type Mutant } from "./mutants.ts";
import { regionAround, regionsOf } from "./probes.ts";
import { described, readJudged, readMutants, report, summary, type Judged } from "./report.ts";
import { PACKAGES, sample } from "./sample.ts";
import { makeTree } from "./tree.ts";
import { openTypeCheck } from "./type-check.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const { values } = parseArgs({
  options: {
    package: { type: "string", multiple: true },
    count: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    again: { type: "boolean", default: false },
    parallel: { type: "string", default: "2" },
    seconds: { type: "string", default: "180" },
  },
});
const count = wholeNumber("count", values.count, 1);
const seed = wholeNumber("seed", values.seed);
const parallel = wholeNumber("parallel", values.parallel, 1);
const seconds = wholeNumber("seconds", values.seconds, 1);
const names = values.package ?? Object.keys(PACKAGES);
const unknown = names.filter((name) => !Object.hasOwn(PACKAGES, name));
if (unknown.length > 0) {
  throw new Error(
    `There is no package ${unknown.join(", ")}. There are: ${Object.keys(PACKAGES).join(", ")}.`,
  );
}
const stop = new AbortController();
const isStopped = (): boolean => stop.signal.aborted;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

const state = await stateFolder(repository);
const { testFiles, stray } = await keptEntered(state, repository, process.env);
const passing = testFiles.filter(({ passed }) => passed);
for (const { file } of testFiles.filter(({ passed }) => !passed))
  console.error(`${file} fails in a tree with probes, and is left out.`);

const results = join(state, `results-${seed}.jsonl`);
const judged = await readResults();
const mutants = await drawn();
// The first of each package, then the second: a command that is stopped has judged as many of each.
const inTurn = mutants.toSorted((a, b) => a.place - b.place);
const queue = inTurn.filter(({ mutant }) => judgementOf(mutant) === undefined);
let done = 0;
await Promise.all(Array.from({ length: parallel }, () => work()));
const all = mutants.flatMap(({ mutant }) => judgementOf(mutant) ?? []);
const text = report(all, seed);
if (names.length === Object.keys(PACKAGES).length)
  await writeFile(join(import.meta.dirname, "results.md"), text);
else console.log(text);
if (isStopped()) console.error("Stopped; the same command goes on.");
console.log(summary(all, seed));
if (isStopped()) process.exitCode = 130;

/** A mutant of a package's sample, and which of it. */
type Drawn = Omit<Judged, "verdict"> & { readonly place: number };

async function drawn(): Promise<readonly Drawn[]> {
  const findMutants = await openStryker();
  const hasNoTypeErrors = openTypeCheck(repository);
  const samples: Drawn[] = [];
  for (const name of names) {
    const kept = join(state, `sample-${name}-${seed}-${count}.json`);
    const before = await readFile(kept, "utf8").catch(() => undefined);
    const options = { repository, findMutants, hasNoTypeErrors, seed, count };
    const mutants = before === undefined ? await sample(name, options) : readMutants(before);
    await writeFile(kept, JSON.stringify(mutants));
    samples.push(...mutants.map((mutant, place) => ({ package: name, mutant, place })));
  }
  return samples;
}

async function work(): Promise<void> {
  await using tree = await makeTree(repository);
  const judging = { tree, env: process.env, budget: seconds * 1_000, signal: stop.signal };
  for (let next = queue.shift(); next !== undefined && !isStopped(); next = queue.shift()) {
    const { mutant } = next;
    const begun = performance.now();
    try {
      const one = {
        package: next.package,
        mutant,
        verdict: await judge(mutant, await covering(mutant), judging),
      };
      judged.set(idOf(mutant), one);
      await appendFile(results, `${JSON.stringify(one)}\n`);
      const took = `${Math.round((performance.now() - begun) / 1_000)} s`;
      const by = "by" in one.verdict ? ` by ${one.verdict.by}` : "";
      console.log(`${++done} of ${mutants.length} ${one.verdict.kind} ${described(mutant)}${by} (${took})`);
    } catch (error) {
      if (!isStopped()) throw error;
    }
  }
}

async function covering({ file, start, end }: Mutant): Promise<readonly TestFile[]> {
  const regions = regionsOf(file, await readFile(join(repository, file), "utf8"));
  const entered = `${file}:${regionAround(regions, start, end).start}`;
  const own = passing.filter((test) => test.entered.includes(entered));
  // Pods do not get their test's environment. Which test started them is not known, but what kind of test does.
  const isOfPods = own.length === 0 && stray.includes(entered);
  return isOfPods ? passing.filter(({ file }) => file.startsWith("verification/end-to-end/")) : own;
}

function idOf({ file, start, end, replacement }: Mutant): string {
  return `${file}:${start}:${end}:${replacement}`;
}

function judgementOf(mutant: Mutant): Judged | undefined {
  return judged.get(idOf(mutant));
}

/** Of mutants that were judged twice, the later verdict. `--again` forgets those that should be noticed and were not. */
async function readResults(): Promise<Map<string, Judged>> {
  const lines = (await readFile(results, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const known = lines.map((line) => readJudged(line));
  const latest = new Map(known.map((one) => [idOf(one.mutant), one]));
  const isKept = ({ mutant, verdict }: Judged): boolean =>
    !values.again || isNoticed(verdict) || explanation(mutant) !== undefined;
  return new Map([...latest].filter(([, one]) => isKept(one)));
}
