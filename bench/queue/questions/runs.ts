import type { RedisServer } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import type { ContenderName } from "../contenders/contender.ts";
import { now } from "../../../verification/harness/clock.ts";
import { withDeadline } from "../measures/deadline.ts";
import { serverCpu } from "../measures/server-figures.ts";
import type { Plan } from "../plan.ts";
import type { Mark } from "../processes/messages.ts";
import type { BenchProcess } from "../processes/start-bench-process.ts";
import type { Team } from "../processes/team.ts";

/** One way of running keys. */
export interface Cell {
  readonly depth: number;
  /** Runs at once in each process. */
  readonly concurrency: number;
  readonly processes: number;
}

/** One window: how fast empty runs went, and what each cost. */
export interface RunFigures extends Cell {
  readonly contender: ContenderName;
  readonly round: number;
  readonly runsPerSecond: number;
  /** µs per run, all worker processes together. */
  readonly workerCpu: number;
  /** µs per run. */
  readonly serverCpu: number;
}

/** Backlogs up to this size are kept up while they are worked off; bigger ones are loaded first. */
const keptUp = 1_000;
/** ms within which a batch of woken keys must have run, or enough of them for a meaningful window. */
const patience = 30_000;
const enough = 100;

export const isKeptUp = (depth: number): boolean => depth <= keptUp;

/**
 * Runs with an empty handler. A small backlog is woken again as soon as all of it has run, so that `depth` keys become
 * due at once, again and again; of a big one, a window is looked at while it is worked off.
 */
export async function measureRuns(
  server: RedisServer,
  team: Team,
  cell: Cell,
  round: number,
  plan: Plan,
): Promise<RunFigures> {
  const workers = team.workers.slice(0, cell.processes);
  if (!isKeptUp(cell.depth)) await team.wake(Math.max(0, cell.depth - team.due()));
  return whileWorking(team, workers, cell, async (runsBefore) => {
    await delay(plan.warmUp);
    const before = await lookAfter(runsBefore + enough, server, workers);
    await delay(plan.window);
    const after = await lookAfter(total(before.marks) + enough, server, workers);
    return { ...cell, contender: team.name, round, ...between(before, after) };
  });
}

/** A look, as soon as there have been so many runs. */
async function lookAfter(runs: number, server: RedisServer, workers: readonly BenchProcess[]): Promise<Look> {
  const giveUp = now() + patience;
  for (;;) {
    const found = await look(server, workers);
    if (total(found.marks) >= runs) return found;
    if (now() > giveUp) throw new Error(`Only ${total(found.marks)} of ${runs} runs in ${patience} ms.`);
    await delay(20);
  }
}

/** Works during `measure`, which gets the workers' runs so far, and keeps the backlog up where it is a small one. */
export async function whileWorking<T>(
  team: Team,
  workers: readonly BenchProcess[],
  { depth, concurrency }: Cell,
  measure: (runsBefore: number) => Promise<T>,
): Promise<T> {
  const before = await Promise.all(workers.map((worker) => worker.mark()));
  const keep = isKeptUp(depth) ? keepUp(team, workers, depth) : undefined;
  const handling = { kind: "count", report: keep !== undefined } as const;
  await Promise.all(workers.map((worker) => worker.work(concurrency, handling)));
  try {
    return await measure(total(before));
  } finally {
    await keep?.stop();
    const after = await Promise.all(workers.map((worker) => worker.stop()));
    await team.producer.stop();
    team.ran(total(after) - total(before));
  }
}

/** Wakes `depth` keys whenever as many have run. */
function keepUp(team: Team, workers: readonly BenchProcess[], depth: number): { stop(): Promise<void> } {
  let ran = 0;
  let wanted = 0;
  const stopping = new AbortController();
  let batch = Promise.withResolvers<undefined>();
  const count = (runs: number): void => {
    ran += runs;
    if (ran >= wanted) batch.resolve(undefined);
  };
  for (const { reports } of workers) reports.on("ran", count);
  const keeping = (async () => {
    while (!stopping.signal.aborted) {
      batch = Promise.withResolvers();
      wanted += depth;
      await team.wake(depth);
      const missing = (): string => `${team.name}: ${wanted - ran} of ${depth} keys did not run.`;
      await withDeadline(batch.promise, patience, missing);
    }
  })();
  keeping.catch(() => {}); // Thrown where it is stopped.
  return {
    async stop() {
      stopping.abort();
      await keeping;
      for (const { reports } of workers) reports.off("ran", count);
    },
  };
}

interface Look {
  readonly marks: readonly Mark[];
  readonly server: number;
}

async function look(server: RedisServer, workers: readonly BenchProcess[]): Promise<Look> {
  const [used, ...marks] = await Promise.all([serverCpu(server), ...workers.map((worker) => worker.mark())]);
  return { marks, server: used };
}

function between(before: Look, after: Look) {
  const pairs = before.marks.flatMap((from, i) => {
    const to = after.marks[i];
    return to === undefined
      ? []
      : [{ runs: to.runs - from.runs, cpu: to.cpu - from.cpu, span: to.at - from.at }];
  });
  const runs = pairs.reduce((sum, pair) => sum + pair.runs, 0);
  return {
    runsPerSecond: pairs.reduce((sum, pair) => sum + (1_000 * pair.runs) / pair.span, 0),
    workerCpu: pairs.reduce((sum, pair) => sum + pair.cpu, 0) / runs,
    serverCpu: (after.server - before.server) / runs,
  };
}

const total = (marks: readonly Mark[]): number => marks.reduce((sum, { runs }) => sum + runs, 0);
