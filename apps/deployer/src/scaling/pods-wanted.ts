import type { Milliseconds, Scaling } from "@drover/controller";
import type { QueueStats } from "@drover/queue";

/** Target time in which all due keys have run, if `scaling.max` allows it. */
const clearWithin: Milliseconds = 5_000;
/** If the oldest due key waits for longer than this although every Pod is busy, one Pod is added. */
const tooOld: Milliseconds = 30_000;

/** The queue's statistics from which the number of Pods is computed. */
export type QueueLoad = Pick<QueueStats, "due" | "oldestDue" | "running" | "runTime">;

/**
 * The number of Pods that a function should have now.
 *
 * A Pod runs `concurrency` keys at once, each for `runTime`. So in the time `clearWithin` it runs this number of keys:
 *
 * `concurrency * clearWithin / runTime` (Little's law).
 *
 * This is one Pod's share of the keys that are due or running, but never less than `concurrency`. While the run time is
 * unknown, one Pod runs to measure it.
 *
 * @param pods the present number of Pods, to which one is added if keys wait too long although all Pods are busy.
 */
export function podsWanted(
  { due, oldestDue, running, runTime }: QueueLoad,
  { min, max, targetDue }: Pick<Scaling, "min" | "max" | "targetDue">,
  { concurrency, pods }: { readonly concurrency: number; readonly pods: number },
): number {
  const load = due + running;
  if (load === 0) return min;
  const share = targetDue ?? Math.max(concurrency, shareOf(concurrency, runTime));
  const late = oldestDue > tooOld && running >= pods * concurrency ? pods + 1 : 1;
  return Math.min(max, Math.max(min, late, Math.ceil(load / share)));
}

const shareOf = (concurrency: number, runTime: Milliseconds): number =>
  runTime === 0 ? Infinity : Math.floor((concurrency * clearWithin) / runTime);
