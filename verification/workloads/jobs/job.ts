// Fields of a Job and its pods.
import { field, listAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json } from "../../../packages/sandbox/src/json.ts";
import { conditionOf, hasEnded, isLeaving, numberAt } from "../sequences/kinds.ts";

export const trackingFinalizer = "batch.kubernetes.io/job-tracking";
/** The label `app` of pods that a user has relabelled. */
export const releasedLabel = "released";
export const uidLabel = "batch.kubernetes.io/controller-uid";
export const nameLabel = "batch.kubernetes.io/job-name";
/** An annotation, and a label. */
export const indexAnnotation = "batch.kubernetes.io/job-completion-index";

export const isTracked = (pod: Json): boolean =>
  listAt(pod, "metadata", "finalizers").some((one) => one === trackingFinalizer);
/** It is being deleted and has not ended. */
export const isTerminating = (pod: Json): boolean => isLeaving(pod) && !hasEnded(pod);

export function indexOf(pod: Json): number | undefined {
  const text = textAt(pod, "metadata", "annotations", indexAnnotation);
  return text === undefined ? undefined : Number(text);
}

const holds = (job: Json, type: string): boolean => textAt(conditionOf(job, type), "status") === "True";

export const isFinished = (job: Json): boolean => holds(job, "Complete") || holds(job, "Failed");
/** It ends, and waits for its pods. */
export const isEnding = (job: Json): boolean =>
  holds(job, "SuccessCriteriaMet") || holds(job, "FailureTarget");
export const isReportedSuspended = (job: Json): boolean => holds(job, "Suspended");
export const isSuspended = (job: Json): boolean => field(job, "spec", "suspend") === true;
export const isIndexed = (job: Json): boolean => textAt(job, "spec", "completionMode") === "Indexed";
export const completionsOf = (job: Json): number | undefined => numberAt(job, "spec", "completions");
export const parallelismOf = (job: Json): number => numberAt(job, "spec", "parallelism") ?? 1;
export const hasLimitPerIndex = (job: Json): boolean =>
  numberAt(job, "spec", "backoffLimitPerIndex") !== undefined;
export const isManagedByOther = (job: Json): boolean =>
  !["kubernetes.io/job-controller", undefined].includes(textAt(job, "spec", "managedBy"));
/** A pod that is being deleted is replaced, and counted, only once it has ended. */
export const awaitsEnds = (job: Json): boolean =>
  textAt(job, "spec", "podReplacementPolicy") === "Failed" ||
  field(job, "spec", "podFailurePolicy") !== undefined;

/** The indexes in a list such as `1,3-5`. */
export const indexesIn = (text: string): ReadonlySet<number> =>
  new Set(
    text
      .split(",")
      .filter((part) => part !== "")
      .flatMap((part) => {
        const [first = 0, last = first] = part.split("-").map(Number);
        return Array.from({ length: last - first + 1 }, (_, i) => first + i);
      }),
  );
