// The suite on both servers: the cases on one server after the other, so that the times are comparable, and then the
// generated sequences.
import { allowedDifferences } from "./allowed-differences.ts";
import type { Allowed } from "./allowed-differences.ts";
import { allCases } from "./cases/index.ts";
import { compareRuns, describeDifferences } from "./compare.ts";
import type { Found } from "./compare.ts";
import { fixtures } from "./fixtures.ts";
import { runCase, runCases } from "./run-case.ts";
import type { Run } from "./run-case.ts";
import { withServers } from "./servers.ts";
import type { Server, Servers } from "./servers.ts";
import { runRandomRules } from "./random-rules/run.ts";
import type { RandomRules } from "./random-rules/run.ts";
import { runSequences } from "./sequences/run.ts";
import type { SequencesResult } from "./sequences/run.ts";
import type { Case } from "./steps.ts";

export interface SuiteOptions {
  /** Only cases with this in their name. */
  readonly only?: string;
  readonly sequences: number;
  readonly seed: number;
  /** The number of seeds for random rules. */
  readonly rules?: number;
}

export interface Failed {
  readonly name: string;
  readonly found: readonly Found[];
}

interface Times {
  readonly startedMs: number;
  readonly casesMs: number;
}

export interface SuiteResult {
  readonly names: readonly string[];
  readonly requests: number;
  readonly failed: readonly Failed[];
  /** Allowed differences that no case met. Empty if not all cases ran. */
  readonly unused: readonly Allowed[];
  readonly sequences: SequencesResult;
  readonly rules: RandomRules;
  readonly seed: number;
  readonly times: Readonly<Record<Server["name"], Times>>;
}

async function timed(
  server: Server,
  cases: readonly Case[],
): Promise<{ runs: readonly Run[]; times: Times }> {
  await runCase(server, fixtures, "fixtures");
  const begun = performance.now();
  const runs = await runCases(server, cases);
  return { runs, times: { startedMs: server.startedMs, casesMs: performance.now() - begun } };
}

/** Compares all runs, case by case. */
function failures(
  cases: readonly Case[],
  real: readonly Run[],
  sandbox: readonly Run[],
  used: Set<Allowed>,
): Failed[] {
  return cases.flatMap(({ name }, i) => {
    const [left, right] = [real[i], sandbox[i]];
    const found = left && right ? compareRuns(left, right, used) : [];
    return found.length > 0 ? [{ name, found }] : [];
  });
}

async function runOn(
  servers: Servers,
  { only = "", sequences, seed, rules = 0 }: SuiteOptions,
): Promise<SuiteResult> {
  const cases = allCases.filter(({ name }) => name.includes(only));
  const ours = await timed(servers.sandbox, cases);
  const theirs = await timed(servers.real, cases);
  const used = new Set<Allowed>();
  return {
    names: cases.map(({ name }) => name),
    requests: ours.runs.reduce((sum, run) => sum + run.asked.length, 0),
    failed: failures(cases, theirs.runs, ours.runs, used),
    unused: only === "" ? allowedDifferences.filter((one) => !used.has(one)) : [],
    sequences: await runSequences(servers, { count: sequences, seed }),
    rules: await runRandomRules(servers, seed, rules),
    seed,
    times: { sandbox: ours.times, real: theirs.times },
  };
}

/** Starts both servers, runs all cases and sequences, and stops the servers. Rejects if a server does not start. */
export const runSuite = (options: SuiteOptions): Promise<SuiteResult> =>
  withServers((servers) => runOn(servers, options));

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`;

/** The result for people. Its last line is the figures. */
export function report({
  names,
  requests,
  failed,
  unused,
  sequences,
  rules,
  seed,
  times,
}: SuiteResult): string {
  const { sandbox, real } = times;
  const { differing } = sequences;
  return [
    ...failed.map(({ name, found }) => `== ${name}\n${describeDifferences(found)}`),
    ...unused.map(({ reason }) => `== allowed, and never met: ${reason}`),
    ...differing.map(
      (one) =>
        `== ${one.name}, ${one.least.steps.length} requests\n${describeDifferences(one.found.slice(0, 10))}`,
    ),
    describeDifferences(rules.found),
    `${rules.evaluations} evaluations of random rules: ${rules.found.length} differ`,
    `start: sandbox ${seconds(sandbox.startedMs)}, real ${seconds(real.startedMs)}; ` +
      `cases: sandbox ${seconds(sandbox.casesMs)}, real ${seconds(real.casesMs)}`,
    `${names.length} cases, ${requests} requests: ${failed.length} differ; ${sequences.sequences} sequences of seed ` +
      `${seed}, ${sequences.requests} requests: ${differing.length} differ`,
  ].join("\n");
}
