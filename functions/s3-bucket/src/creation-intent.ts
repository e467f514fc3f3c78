import { type Milliseconds, milliseconds } from "@drover/controller";
import { longestRequest } from "./config.ts";

/**
 * What is written into the status before a bucket is made: there was no bucket of this name at `since`, and one is made
 * before `until`. Both are times of the S3 server, as are the creation times that it reports.
 */
export interface CreationIntent {
  readonly bucketName: string;
  /** RFC 3339. */
  readonly since: string;
  /** RFC 3339. */
  readonly until: string;
}

const shortest: Milliseconds = 2 * longestRequest;
const longest: Milliseconds = milliseconds("1h");
/** Servers give times in whole seconds. */
const rounding: Milliseconds = 2_000;

/**
 * The intent to make a bucket that is absent at a time.
 *
 * It is open for as short as is sensible, because nobody can tell our bucket from one that somebody else makes in that
 * time. Where an earlier intent ran out before its run came, runs are late, and the next one is open for twice as long:
 * a long queue must not
 * keep buckets from ever being made.
 */
export function intentToCreate(bucketName: string, at: Date, earlier?: CreationIntent): CreationIntent {
  const late = earlier?.bucketName === bucketName ? at.getTime() - Date.parse(earlier.since) : 0;
  const open = Math.min(Math.max(shortest, 2 * (late || 0)), longest);
  return {
    bucketName,
    since: at.toISOString(),
    until: new Date(at.getTime() + open).toISOString(),
  };
}

/** Whether a bucket may be asked for now: the request must be over when the intent is. */
export function mayCreate(intent: CreationIntent | undefined, bucketName: string, at: Date): boolean {
  if (intent?.bucketName !== bucketName) return false;
  const { since, until } = times(intent);
  return at.getTime() >= since - rounding && at.getTime() + longestRequest <= until;
}

/** Whether a bucket that was made at a time may be the one that was intended. */
export function wasIntended(intent: CreationIntent | undefined, bucketName: string, madeAt: Date): boolean {
  if (intent?.bucketName !== bucketName) return false;
  const { since, until } = times(intent);
  return madeAt.getTime() >= since - rounding && madeAt.getTime() <= until + rounding;
}

/** How long a bucket that was asked for by a run that is gone may still appear. */
export function mayAppearFor(intent: CreationIntent | undefined, bucketName: string, at: Date): Milliseconds {
  if (intent?.bucketName !== bucketName) return 0;
  const { since, until } = times(intent);
  // A time before the intent was written says that the clock was set back: wait no longer than the intent was open.
  return Math.max(0, until - Math.max(since, at.getTime()) || 0);
}

const times = ({ since, until }: CreationIntent) => ({ since: Date.parse(since), until: Date.parse(until) });
