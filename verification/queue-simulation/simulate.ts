import fc from "fast-check";
import type { Redis } from "ioredis";
import { countBranches } from "./branches.ts";
import { receiveWorkerMessages } from "./worker-messages.ts";
import { BrokenPromise, runSchedule } from "./run-schedule.ts";
import { getsCachedLists, getsCachedObject, wasAssigned } from "./simulated-process.ts";
import { crashes, schedule, type Schedule } from "./schedule.ts";

export interface SimulationReport {
  readonly schedules: number;
  /** How many of those had a process or Redis die in them. */
  readonly crashed: number;
  /** Runs that got a cached object. */
  readonly cachedObjects: number;
  /** Runs that got cached lists. */
  readonly cachedLists: number;
  /** Runs of keys that were assigned to an idle slot. */
  readonly assigned: number;
  readonly branches: { readonly taken: number; readonly all: number; readonly missed: readonly string[] };
  /** The first promise that was broken, by the shortest schedule that breaks it. */
  readonly broken: { readonly schedule: Schedule; readonly error: BrokenPromise } | undefined;
}

/** Another series has found a broken promise: this one stops. */
class Stopped extends Error {
  override readonly name = "Stopped";
}

/** Schedules under way at once: each has keys of its own, and Redis answers many calls at the price of one. */
const parallel = 32;

/**
 * Runs random schedules; the same ones for the same seed.
 *
 * Branches are looked for in every sixteenth schedule, by copies of the scripts that note which way they go.
 */
export async function simulate(options: {
  readonly redis: Redis;
  readonly schedules: number;
  readonly seed: number;
}): Promise<SimulationReport> {
  const { redis, schedules, seed } = options;
  const branches = countBranches(redis);
  const workerMessages = await receiveWorkerMessages(redis);
  let ran = 0;
  let crashed = 0;
  let cachedObjects = 0;
  let cachedLists = 0;
  let assigned = 0;
  const stop = new AbortController();
  const run = async (series: number, each: Schedule): Promise<void> => {
    if (stop.signal.aborted) throw new Stopped();
    ran++;
    if (crashes(each)) crashed++;
    const trace = await runSchedule(
      { redis, workerMessages },
      each,
      series % 16 === 0 ? branches.instrument : undefined,
    );
    cachedObjects += trace.filter((line) => line.endsWith(getsCachedObject)).length;
    cachedLists += trace.filter((line) => line.endsWith(getsCachedLists)).length;
    assigned += trace.filter((line) => line.endsWith(wasAssigned)).length;
  };
  const runSeries = async (index: number): Promise<SimulationReport["broken"]> => {
    const numRuns = Math.ceil((schedules - index) / parallel);
    if (numRuns < 1) return undefined;
    const property = fc.asyncProperty(schedule, (each) => run(index, each));
    const { counterexample, errorInstance } = await fc.check(property, {
      seed: seed * parallel + index,
      numRuns,
    });
    if (!counterexample || errorInstance instanceof Stopped) return undefined;
    stop.abort();
    if (errorInstance instanceof BrokenPromise) return { schedule: counterexample[0], error: errorInstance };
    throw errorInstance;
  };
  const found = await Promise.all(Array.from({ length: parallel }, (_, index) => runSeries(index)));
  workerMessages.close();
  const broken = found.find((each) => each !== undefined);
  return {
    schedules: ran,
    crashed,
    cachedObjects,
    cachedLists,
    assigned,
    branches: await branches.count(),
    broken,
  };
}
