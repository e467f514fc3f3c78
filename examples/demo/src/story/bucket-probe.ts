import { sleepUnlessAborted } from "@drover/timers";
import type { ObjectKey } from "@drover/controller";
import type { BucketView } from "./bucket-view.ts";
import type { Narrator } from "./narrator.ts";
import { hasBucket, type S3Access } from "../servers/s3.ts";

/**
 * Checks on the S3 server itself that the buckets of objects exist or are gone. Must be called on every change of an
 * object; with `undefined` if it is gone.
 */
export type BucketProbe = (key: ObjectKey, view: BucketView | undefined) => void;

interface ProbedBucket {
  readonly bucket: string;
  /** Ends the checks. */
  readonly over: AbortController;
  there: boolean;
}

/** Milliseconds between two checks: the first pause, and the longest. */
const pollIntervals = { first: 20, most: 1_000 };

/** @param onThere called when the bucket of an object has been found. */
export function bucketProbe(
  s3: S3Access,
  { print }: Narrator,
  signal: AbortSignal,
  onThere: (key: ObjectKey, bucket: string) => void,
): BucketProbe {
  const followed = new Map<ObjectKey, ProbedBucket>();

  const forget = (key: ObjectKey): ProbedBucket | undefined => {
    const one = followed.get(key);
    one?.over.abort();
    followed.delete(key);
    return one;
  };
  const follow = async (key: ObjectKey, bucket: string): Promise<void> => {
    const one: ProbedBucket = { bucket, over: new AbortController(), there: false };
    followed.set(key, one);
    if (!(await waitForBucket(s3, bucket, AbortSignal.any([signal, one.over.signal])))) return;
    one.there = true;
    print(`${key}: bucket ${bucket} exists on the S3 server`);
    onThere(key, bucket);
  };
  const lookOnce = async (key: ObjectKey, bucket: string): Promise<void> => {
    const there = await hasBucket(s3, bucket, signal);
    if (there !== undefined)
      print(`${key}: bucket ${bucket} ${there ? "still exists on" : "is gone from"} the S3 server`);
  };

  return (key, view) => {
    const known = followed.get(key);
    if (view === undefined) {
      if (forget(key)?.there === true && known !== undefined) void lookOnce(key, known.bucket);
      return;
    }
    // A bucket that is created again must be found again.
    const anew = view.announced && known?.there === true;
    if (view.bucket === undefined || (known?.bucket === view.bucket && !anew)) return;
    forget(key);
    void follow(key, view.bucket);
  };
}

/** Resolves with true when it has been found, with false when the signal fired first. */
async function waitForBucket(s3: S3Access, bucket: string, signal: AbortSignal): Promise<boolean> {
  for (let span = pollIntervals.first; !signal.aborted; span = Math.min(span * 1.5, pollIntervals.most)) {
    if ((await hasBucket(s3, bucket, signal)) === true) return !signal.aborted;
    await sleepUnlessAborted(span, signal);
  }
  return false;
}
