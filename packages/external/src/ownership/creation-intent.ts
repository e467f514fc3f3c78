import { type Milliseconds, parseDuration } from "@drover/controller";

/**
 * The longest time that one request of a port may take. A created resource is recognized only if it was created within
 * the time of the intent in the status. A request that ends later could leave a resource that no run recognizes.
 */
export const maxRequestTime: Milliseconds = parseDuration("15s");

/**
 * The intent to create a resource, written into the status before that: no resource of this name existed at `since`, and
 * one is created before `until`. Both are times of the server, as are the creation times that it reports.
 */
export interface CreationIntent {
  readonly name: string;
  /** RFC 3339. */
  readonly since: string;
  /** RFC 3339. */
  readonly until: string;
}

const minIntentDuration: Milliseconds = 2 * maxRequestTime;
const maxIntentDuration: Milliseconds = parseDuration("1h");
/** Servers give times in full seconds, so times are compared with this tolerance. */
const timeTolerance: Milliseconds = 2_000;

/**
 * The intent to create a resource that was absent at the time `at`.
 *
 * It is as short as possible, because a resource that another client creates in that time cannot be distinguished from
 * ours. If an earlier intent had expired before its run started, runs are late, and the next intent is twice as long: a
 * long queue must not keep resources from ever being created.
 */
export function intentToCreate(name: string, at: Date, earlier?: CreationIntent): CreationIntent {
  const late = earlier?.name === name ? at.getTime() - Date.parse(earlier.since) : 0;
  const open = Math.min(Math.max(minIntentDuration, 2 * (late || 0)), maxIntentDuration);
  return {
    name,
    since: at.toISOString(),
    until: new Date(at.getTime() + open).toISOString(),
  };
}

/** True if a resource may be requested now: the request must end before the intent does. */
export function mayCreate(intent: CreationIntent | undefined, name: string, at: Date): boolean {
  if (intent?.name !== name) return false;
  const { since, until } = times(intent);
  return at.getTime() >= since - timeTolerance && at.getTime() + maxRequestTime <= until;
}

/** True if a resource that was created at `madeAt` may be the intended one. */
export function wasIntended(intent: CreationIntent | undefined, name: string, madeAt: Date): boolean {
  if (intent?.name !== name) return false;
  const { since, until } = times(intent);
  return madeAt.getTime() >= since - timeTolerance && madeAt.getTime() <= until + timeTolerance;
}

/** How long a resource that an earlier run requested may still appear. */
export function mayAppearFor(intent: CreationIntent | undefined, name: string, at: Date): Milliseconds {
  if (intent?.name !== name) return 0;
  const { since, until } = times(intent);
  // If `at` is before the intent, the clock was set back. Wait no longer than the intent lasts.
  return Math.max(0, until - Math.max(since, at.getTime()) || 0);
}

const times = ({ since, until }: CreationIntent) => ({ since: Date.parse(since), until: Date.parse(until) });
