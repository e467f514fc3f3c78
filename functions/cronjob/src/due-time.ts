import type { Seconds } from "./schedule/local-time.ts";
import type { Schedule } from "./schedule/schedule.ts";

/** The times of a schedule that were missed. */
export interface Missed {
  /** The last of them; undefined if there is none. */
  readonly latest: Seconds | undefined;
  /** The first time that is not missed. */
  readonly next: Seconds | undefined;
  /** How many there are, estimated by the distance of the first two. */
  readonly count: number;
}

/**
 * The times after `earliest` up to now, as in kube-controller-manager (`mostRecentScheduleTime`). Undefined for a schedule that
 * has none at all, such as the 31st of February.
 */
export function missedTimes(schedule: Schedule, earliest: Seconds, now: Seconds): Missed | undefined {
  const first = schedule.next(earliest);
  const second = first === undefined ? undefined : schedule.next(first);
  if (first === undefined || second === undefined) return undefined;
  if (now < first) return { latest: undefined, next: first, count: 0 };
  if (now < second) return { latest: first, next: second, count: 1 };
  const distance = second - first;
  const count = Math.floor((now - first) / distance) + 1;
  let latest: Seconds | undefined;
  let next = schedule.next(first + (count - 2) * distance);
  for (; next !== undefined && next <= now; next = schedule.next(next)) latest = next;
  return { latest, next, count };
}
