/** Runs the tests that can notice a mutant, until one does. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import type { TestFile } from "./entered-regions.ts";
import { mutated, type Mutant } from "./mutants.ts";
import type { Tree } from "./tree.ts";

export type Verdict = z.output<typeof verdictSchema>;
export const verdictSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.enum(["killed", "timed out"]), by: z.string() }),
  /** `ran` of `covering` test files were run; all, unless they took longer than a mutant is given. */
  z.object({ kind: z.literal("survived"), ran: z.number(), covering: z.number() }),
  z.object({ kind: z.literal("no coverage") }),
]);

export const isNoticed = ({ kind }: Verdict): boolean => kind === "killed" || kind === "timed out";

interface Judging {
  readonly tree: Tree;
  readonly env: NodeJS.ProcessEnv;
  /** Tests that take longer in all, unmutated, are not run to the last. */
  readonly budget: number;
  readonly signal: AbortSignal;
}

/** Tests are run in three turns: those that are likely to notice in seconds, those that take less than a minute, all others. */
const TURNS = [6_000, 40_000, Infinity];

/** @param covering the test files that enter the mutant's region */
export async function judge(
  mutant: Mutant,
  covering: readonly TestFile[],
  judging: Judging,
): Promise<Verdict> {
  if (covering.length === 0) return { kind: "no coverage" };
  const path = join(judging.tree.root, mutant.file);
  const text = await readFile(path, "utf8");
  await writeFile(path, mutated(text, mutant));
  try {
    const ordered = withinBudget(nearestFirst(mutant.file, covering), judging.budget);
    for (const turn of inTurns(ordered)) {
      const noticed = await notices(turn, judging);
      if (noticed !== undefined) return noticed;
    }
    return { kind: "survived", ran: ordered.length, covering: covering.length };
  } finally {
    await writeFile(path, text);
  }
}

/** Runs them one after another; a failure counts when it comes a second time. */
async function notices(files: readonly TestFile[], judging: Judging): Promise<Verdict | undefined> {
  let left = files;
  while (left.length > 0) {
    const first = await runTests(left, judging);
    if (first.kind === "passed") return undefined;
    const suspects = left.filter(({ file }) => first.failed.includes(file));
    if (suspects.length === 0)
      return { kind: first.kind === "late" ? "timed out" : "killed", by: "all of them" };
    const by = suspects.map(({ file }) => file).join(", ");
    const second = await runTests(suspects, judging);
    if (second.kind !== "passed") return { kind: second.kind === "late" ? "timed out" : "killed", by };
    // A failure by chance ended the first run: the files behind it are still to be run.
    left = left.filter((one) => !suspects.includes(one));
  }
  return undefined;
}

type TestRun =
  { readonly kind: "passed" } | { readonly kind: "failed" | "late"; readonly failed: readonly string[] };

const reportSchema = z.object({
  testResults: z.array(z.object({ name: z.string(), status: z.string() })),
});

async function runTests(files: readonly TestFile[], { tree, env, signal }: Judging): Promise<TestRun> {
  const report = join(tree.temporary, "report.json");
  await rm(tree.temporary, { recursive: true, force: true });
  await mkdir(tree.temporary);
  const program = join(tree.root, "node_modules/vitest/vitest.mjs");
  const options = ["--bail=1", "--maxWorkers=1", "--reporter=json", `--outputFile.json=${report}`];
  const mark = crypto.randomUUID();
  const child = spawn(process.execPath, [program, "run", ...options, ...files.map(({ file }) => file)], {
    cwd: tree.root,
    env: { ...env, TMPDIR: tree.temporary, [MARK]: mark },
    stdio: "ignore",
    detached: true,
  });
  const kill = (): void => killMarked(tree.root, mark);
  const limit = setTimeout(kill, 30_000 + 4 * files.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  signal.addEventListener("abort", kill);
  const [code, killed] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.on("close", (...ended) => resolve(ended)).on("error", reject);
  });
  clearTimeout(limit);
  signal.removeEventListener("abort", kill);
  killMarked(tree.root, mark);
  signal.throwIfAborted();
  if (code === 0) return { kind: "passed" };
  const text = await readFile(report, "utf8").catch(() => undefined);
  // A test that fails to load is reported, too: vitest itself did not start, and no mutant can be the reason.
  if (text === undefined && killed === null) throw new Error(`vitest ended with ${code}, and no report.`);
  const { testResults } = reportSchema.parse(JSON.parse(text ?? '{"testResults":[]}'));
  return {
    kind: killed === null ? "failed" : "late",
    failed: testResults
      .filter(({ status }) => status === "failed")
      .map(({ name }) => relative(tree.root, name)),
  };
}

const MARK = "MUTATION_RUN";

/**
 * Kills what was started in a tree, however far down, and only that: it has the mark in its environment, or a path of the
 * tree in its command line, as Valkey has, which writes over its environment.
 */
function killMarked(root: string, mark: string): void {
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${id}/environ`, "latin1").split("\0");
      const isOurs = environment.includes(`${MARK}=${mark}`);
      if (isOurs || readFileSync(`/proc/${id}/cmdline`, "latin1").includes(`${root}/`))
        process.kill(Number(id), "SIGKILL");
    } catch {
      // It has ended, or is another's.
    }
  }
}

/** A test of the file itself, then tests beside it, then the others; the quickest of them first. */
function nearestFirst(file: string, tests: readonly TestFile[]): readonly TestFile[] {
  const own = basename(file, ".ts");
  const distance = (test: string): number =>
    basename(test).startsWith(`${own}.`) ? 0 : dirname(test) === dirname(file) ? 1 : 2;
  return tests.toSorted((a, b) => distance(a.file) - distance(b.file) || a.milliseconds - b.milliseconds);
}

function withinBudget(tests: readonly TestFile[], budget: number): readonly TestFile[] {
  let sum = 0;
  return tests.filter(({ milliseconds }, i) => {
    const fits = i === 0 || sum + milliseconds + START <= budget;
    if (fits) sum += milliseconds + START;
    return fits;
  });
}

/** What it costs to load a test file, besides running it. */
const START = 1_000;

function inTurns(tests: readonly TestFile[]): readonly (readonly TestFile[])[] {
  const turns = TURNS.map((): TestFile[] => []);
  let sum = 0;
  for (const test of tests) {
    sum += test.milliseconds + START;
    turns[sum === test.milliseconds + START ? 0 : TURNS.findIndex((limit) => sum <= limit)]?.push(test);
  }
  return turns.filter((turn) => turn.length > 0);
}
