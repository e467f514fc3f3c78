import fc from "fast-check";
import { type Branches, countBranches } from "./branches.ts";
import type { SimulationServer } from "./simulation-server.ts";
import { BrokenPromise, runSchedule } from "./run-schedule.ts";
import { getsCachedLists, getsCachedObject, isFirst, wasAssigned } from "./simulated-process.ts";
import { crashes, schedule, type Schedule } from "./schedule.ts";

interface Counts {
  schedules: number;
  /** How many of those had a process or Redis die in them. */
  crashed: number;
  /** Runs that got a cached object. */
  cachedObjects: number;
  /** Runs that got cached lists. */
  cachedLists: number;
  /** Runs that are the first of their objects. */
  first: number;
  /** Runs of keys that were assigned to an idle slot. */
  assigned: number;
}

export interface SimulationReport extends Readonly<Counts> {
  readonly branches: Awaited<ReturnType<Branches["count"]>>;
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
export async function simulate(
  server: SimulationServer,
  { schedules, seed }: { readonly schedules: number; readonly seed: number },
): Promise<SimulationReport> {
  const branches = countBranches(server.redis);
  const counts: Counts = {
    schedules: 0,
    crashed: 0,
    cachedObjects: 0,
    cachedLists: 0,
    first: 0,
    assigned: 0,
  };
  const stop = new AbortController();
  const run = async (series: number, each: Schedule): Promise<void> => {
    if (stop.signal.aborted) throw new Stopped();
    counts.schedules++;
    if (crashes(each)) counts.crashed++;
    const trace = await runSchedule(server, each, series % 16 === 0 ? branches.instrument : undefined);
    const endingIn = (what: string): number => trace.filter((line) => line.endsWith(what)).length;
    counts.cachedObjects += endingIn(getsCachedObject);
    counts.cachedLists += endingIn(getsCachedLists);
    counts.first += endingIn(isFirst);
    counts.assigned += endingIn(wasAssigned);
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
  const broken = found.find((each) => each !== undefined);
  return { ...counts, branches: await branches.count(), broken };
}
