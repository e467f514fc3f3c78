// When the actions of a sequence are done: users act at fixed seconds of a minute, so that it does not depend on the speed of
// a controller which times have come by then.
import type { Action } from "../sequences/actions.ts";

const minute = 60_000;
/** A Job is awaited so long after its time: after that it is taken for left out. */
export const awaitedMs = 17_000;
/** The second of a minute after which no Job of that minute is awaited. */
const earliest = 20_000;
/** From one action of a user to the next: at most two fit into a minute. */
const apart = 18_000;
/** The first action may be so late in its minute that another one fits. */
const latestBegin = 22_000;

/** When each of these actions is done, ms since 1970. */
export function timesOf(actions: readonly Action[], now: number): readonly number[] {
  const begun = now % minute;
  const first = begun <= latestBegin ? now + Math.max(0, earliest - begun) : now - begun + minute + earliest;
  let current = Math.floor(first / minute) * minute;
  let next = first;
  return actions.map((action) => {
    if (action.do === "minute") {
      current += minute;
      next = current + earliest;
      return current;
    }
    const at = next;
    next += apart;
    return at;
  });
}
