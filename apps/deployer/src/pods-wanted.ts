import type { Milliseconds, Scaling } from "@drover/controller";
import type { QueueStats } from "@drover/queue";

/** What is due is to be done within this time, as far as `scaling.max` allows. */
const clearWithin: Milliseconds = 5_000;
/** Keys that wait longer than this, though every Pod is busy, want one Pod more than the figures say. */
const tooOld: Milliseconds = 30_000;

/** What a decision about the number of Pods is made from. */
export type Load = Pick<QueueStats, "due" | "oldestDue" | "running" | "runTime">;

/**
 * How many Pods a function should have now.
 *
 * A Pod runs `concurrency` keys at once, each for `runTime`: within `clearWithin` it gets through
 * `concurrency * clearWithin / runTime` of them (Little's law). So many keys, due and running, are one Pod's share, and
 * never fewer than it runs at once. While nobody knows how long runs take, one Pod finds out.
 *
 * @param pods that there are, to grow from when what is due grows old though all of them are busy.
 */
export function podsWanted(
  { due, oldestDue, running, runTime }: Load,
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
