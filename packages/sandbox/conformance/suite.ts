// The whole suite on both servers, one after the other, so that each one's time is its own.
import { allowedDifferences } from "./allowed-differences.ts";
import type { Allowed } from "./allowed-differences.ts";
import { allCases } from "./cases/index.ts";
import { compareRuns, told } from "./compare.ts";
import type { Found } from "./compare.ts";
import { fixtures } from "./fixtures.ts";
import { runCase, runCases } from "./run-case.ts";
import type { Run } from "./run-case.ts";
import type { Server } from "./servers.ts";
import { startRealServer, startSandboxServer } from "./servers.ts";
import type { Case } from "./steps.ts";

export interface Failed {
  readonly name: string;
  readonly found: readonly Found[];
}

export interface SuiteResult {
  readonly cases: number;
  readonly requests: number;
  readonly failed: readonly Failed[];
  readonly unused: readonly Allowed[];
  readonly times: Readonly<Record<Server["name"], { readonly startedMs: number; readonly casesMs: number }>>;
}

async function timed(server: Server, cases: readonly Case[]) {
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

/** Runs the cases whose name has `only` in it. Rejects when a server does not start. */
export async function runSuite({ only = "" }: { readonly only?: string } = {}): Promise<SuiteResult> {
  const cases = allCases.filter(({ name }) => name.includes(only));
  const sandbox = await startSandboxServer();
  try {
    const real = await startRealServer();
    try {
      const ours = await timed(sandbox, cases);
      const theirs = await timed(real, cases);
      const used = new Set<Allowed>();
      return {
        cases: cases.length,
        requests: ours.runs.reduce((sum, run) => sum + run.asked.length, 0),
        failed: failures(cases, theirs.runs, ours.runs, used),
        unused: only === "" ? allowedDifferences.filter((one) => !used.has(one)) : [],
        times: { sandbox: ours.times, real: theirs.times },
      };
    } finally {
      await real.close();
    }
  } finally {
    await sandbox.close();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 1000 ? 3 : 1)} s`;

/** The result for people. Its last line is the figures. */
export function report({ cases, requests, failed, times }: SuiteResult): string {
  const { sandbox, real } = times;
  return [
    ...failed.map(({ name, found }) => `== ${name}\n${told(found)}`),
    `start: sandbox ${seconds(sandbox.startedMs)}, real ${seconds(real.startedMs)}; ` +
      `cases: sandbox ${seconds(sandbox.casesMs)}, real ${seconds(real.casesMs)}`,
    `${cases} cases, ${requests} requests: ${failed.length} differ`,
  ].join("\n");
}
