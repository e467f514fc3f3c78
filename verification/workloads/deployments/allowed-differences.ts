import { field } from "../../../packages/sandbox/src/json.ts";
import type { Json } from "../../../packages/sandbox/src/json.ts";
import type { Allowed, Difference } from "../canonical/compare.ts";
import type { Action } from "../sequences/actions.ts";

/** By hand, or by a ReplicaSet that a Deployment has adopted and sets right. */
const takesPodsAway = (action: Action): boolean =>
  action.do === "pods" ||
  action.do === "replicaSet" ||
  (action.do === "patch" && action.kind === "ReplicaSet");
const saysComplete = (message: Json | undefined): boolean =>
  typeof message === "string" && /^ReplicaSet ".+" has successfully progressed\.$/.test(message);
const isPausedWithoutHistory = (action: Action): boolean =>
  action.do === "create" &&
  field(action.object, "spec", "paused") === true &&
  field(action.object, "spec", "revisionHistoryLimit") === 0;
/** A time: the reference has stated it anew, the subject has not. */
const isAnewForReference = ({ step, reference, subject }: Difference): boolean =>
  reference === `<during action ${step}>` && subject !== reference;

/** All of them. One that no sequence meets any more fails a run of 1,000 sequences or more. */
export const allowedDifferences: readonly Allowed[] = [
  {
    covers: (difference) =>
      takesPodsAway(difference.action) &&
      /^deployments\.[^.]+\.status\.conditions\[\d\]\.last(Update|Transition)Time$/.test(difference.path) &&
      isAnewForReference(difference),
    reason:
      "A pod that was deleted is replaced in one run, and one status update has both. " +
      "kube-controller-manager reports a pod fewer, and then one more, which it counts as progress: " +
      "the deadline of a rollout that is stuck begins anew.",
  },
  {
    covers: ({ path, reference, subject }) =>
      /^events\.Deployment [^.]+ DeploymentRollback(RevisionNotFound|TemplateUnchanged)\./.test(path) &&
      typeof reference === "number" &&
      reference > 1 &&
      subject === 1,
    reason:
      "A resumed Deployment with a rollback to a missing or to its current revision gets one Event about it. " +
      "kube-controller-manager writes the Event, conflicts with its own write, and writes the Event again.",
  },
  {
    covers: ({ action, path, reference, subject }) =>
      action.do === "rollOver" &&
      /^deployments\.[^.]+\.status\.conditions\[\d\]\.message$/.test(path) &&
      saysComplete(reference) &&
      saysComplete(subject),
    reason:
      "Of two templates, one right after the other, the first may be rolled out before the second is seen, where there are " +
      "no pods to wait for. The condition then names the first one for good: that of a complete rollout is not written again.",
  },
  {
    covers: (difference) =>
      difference.action.do === "delete" &&
      difference.action.policy === "Orphan" &&
      /^deployments\.[^.]+\.status\.conditions\[\d\]\.lastUpdateTime$/.test(difference.path) &&
      isAnewForReference(difference),
    reason:
      "A Deployment that adopts another one's ReplicaSet scales it, and states the pods that it has now. kube-controller-manager " +
      "cannot: it has written the revision just before, and has not read that yet. By the next look it takes the " +
      "same pods for progress of a rollout that is complete.",
  },
  {
    covers: ({ action, path, reference }) =>
      isPausedWithoutHistory(action) &&
      (/^(replicaSets|pods)\./.test(path)
        ? reference === undefined
        : /^deployments\.[^.]+\.status\./.test(path)),
    parts: true,
    reason:
      "A paused Deployment that keeps no history finds a ReplicaSet without pods, adopts it and scales it. kube-controller-manager " +
      "deletes it then, as old and empty: it looks at what it had read before it scaled.",
  },
];
