/**
 * # @drover/workloads
 *
 * What controllers of Kubernetes' workloads have in common, each thing once, so that a Deployment and a Job agree on what
 * an available pod is and on who owns it.
 *
 * - **pods**: `pod` (is it active, ready, available, and when will it be), `deletion-order` (which go first),
 *   `pod-control` (make and delete, with Events), `slow-start`.
 * - **ownership**: `ownership` (adopt, release), `find-controlled` (what there is to own).
 * - **objects**: `replica-set`, `object` (what specs share), `condition`, `int-or-percent`.
 * - **runs**: `step` (what all steps of a run share).
 *
 * Nothing here remembers anything: what is found is the newest state there is, or what the run before left with all that
 * was told since, every write is for the version or uid that was read, and what is created twice has one name.
 */
export {
  condition,
  conditionOf,
  isSameStatus,
  withCondition,
  withoutCondition,
  type WorkloadCondition,
} from "./condition.ts";
export { inDeletionOrder } from "./deletion-order.ts";
export { findMatching, findStrayed, listMatching } from "./find-controlled.ts";
export { type IntOrPercent, intOrPercent, scaled } from "./int-or-percent.ts";
export { nameSuffix } from "./name-suffix.ts";
export { count, labelSelector, objectOf, type PodTemplate, podTemplate, time } from "./object.ts";
export {
  claim,
  type Claim,
  claimOf,
  type ClaimParts,
  controllerOf,
  controllerReference,
  isControlledBy,
  isStillThere,
  type Owner,
} from "./ownership.ts";
export {
  isActive,
  isAvailable,
  isReady,
  isTerminating,
  mayRun,
  nextAvailable,
  type Pod,
  podSchema,
} from "./pod.ts";
export {
  createPods,
  deletePods,
  isOfEndingNamespace,
  longestName,
  mostAtOnce,
  type PodControl,
  wordsOf,
} from "./pod-control.ts";
export { ReplicaSet, type ReplicaSetObject, replicaSetSchema } from "./replica-set.ts";
export { type Batches, slowStart } from "./slow-start.ts";
export { type Now, orphansOf, stepOf, type WorkloadStep } from "./step.ts";
