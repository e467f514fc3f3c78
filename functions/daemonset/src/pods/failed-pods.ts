import { type Milliseconds } from "@drover/controller";
import type { Pod } from "@drover/workloads";
import { hashOf } from "../revision/controller-revision.ts";

/** How many pods have failed on the node one after the other before this one. kube-controller-manager remembers it. */
export const failuresAnnotation = "drover.dev/daemon-pod-failures";

const firstDelay: Milliseconds = 1_000;
const longestDelay: Milliseconds = 15 * 60_000;
/** A pod that has run for so long was stable, and failures are counted from the beginning. */
const stableAfter: Milliseconds = 2 * longestDelay;

/** The failures before a pod that still count. Those of an earlier template do not. */
function earlierFailures(pod: Pod, hash: string, now: Milliseconds): number {
  const text = pod.metadata.annotations?.[failuresAnnotation] ?? "";
  const isStable = now - createdAt(pod) > stableAfter;
  return /^\d{1,6}$/.test(text) && hashOf(pod) === hash && !isStable ? Number(text) : 0;
}

const createdAt = ({ metadata }: Pod): Milliseconds => Date.parse(metadata.creationTimestamp ?? "");

/** The failures up to this one, and the time until the failed pod may be replaced: twice as long after each. */
export function failureOf(
  pod: Pod,
  hash: string,
  now: Milliseconds,
): { readonly failures: number; readonly wait: Milliseconds } {
  const before = earlierFailures(pod, hash, now);
  const delay = before === 0 ? 0 : Math.min(longestDelay, firstDelay * 2 ** (before - 1));
  // Never longer than the delay: the API server's clock, by which the pod was created, may be ahead.
  const wait = Math.min(delay, Math.max(0, createdAt(pod) + delay - now));
  return { failures: before + 1, wait };
}
