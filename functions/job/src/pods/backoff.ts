import type { Milliseconds } from "@drover/controller";
import type { Pod } from "@drover/workloads";
import type { JobSpec } from "../job.ts";
import { earlierFailures, endedAt, countsAsFailed, hasSucceeded, isTracked } from "./job-pod.ts";

const first: Milliseconds = 10_000;
const longest: Milliseconds = 600_000;

/**
 * Time until a Job's next pods may be created: 10 s after a failure, twice as long after each further one since the last
 * success, ten minutes at most.
 *
 * kube-controller-manager counts the failures in its memory, and begins again when it is started again. Here they are
 * counted by the pods that are there, so a failed pod that was deleted does not count. Pods that the Job itself has
 * deleted do not count either: they have no finalizer.
 */
export function remainingBackoff(spec: JobSpec, pods: readonly Pod[], now: number): Milliseconds {
  const lastSuccess = latest(pods.filter(hasSucceeded).map(endedAt));
  const failures = pods
    .filter((pod) => pod.status.phase === "Failed" || (isTracked(pod) && countsAsFailed(spec, pod)))
    .map(endedAt)
    .filter((at) => at > lastSuccess);
  return remaining(failures.length, latest(failures), now);
}

const latest = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), -Infinity);

/** The same for the index of the last pod that has failed there. */
export function remainingIndexBackoff(lastFailed: Pod, now: number): Milliseconds {
  const { counted, ignored } = earlierFailures(lastFailed);
  return remaining(counted + ignored + 1, endedAt(lastFailed), now);
}

function remaining(failures: number, lastFailure: number, now: number): Milliseconds {
  if (failures === 0) return 0;
  const delay = Math.min(longest, first * 2 ** (failures - 1));
  return Math.max(0, lastFailure + delay - now);
}
