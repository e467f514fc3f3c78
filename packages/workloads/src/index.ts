/**
 * # @drover/workloads
 *
 * The common parts of the controllers of Kubernetes' workloads, each implemented once, so that for example a Deployment
 * and a Job agree on when a pod is available and on its owner.
 *
 * - **pods**: `pod` (is it active, ready, available, and when will it be), `deletion-order` (which go first),
 *   `pod-control` (make and delete, with Events), `slow-start`.
 * - **ownership**: `ownership` (adopt, release), `find-controlled` (the objects to own).
 * - **objects**: `replica-set`, `object-schemas` (common parts of specs), `condition`, `int-or-percent`.
 * - **runs**: `run-context` (the common parts of all steps of a run), `requeue-in`.
 *
 * Nothing here has state of its own. Objects are read in their newest state, or come from the lists of the run before,
 * with all changes since. Every write is for the version or uid that was read, and a pod that is created twice has the
 * same name both times.
 */
export {
  conditionSchema,
  conditionOf,
  isSameStatus,
  withCondition,
  withoutCondition,
  type WorkloadCondition,
} from "./condition.ts";
export { inDeletionOrder, inPlainDeletionOrder } from "./deletion-order.ts";
export { findMatching, findStrayed, listMatching } from "./find-controlled.ts";
export { intOrPercentSchema, scaledValue } from "./int-or-percent.ts";
export { nameSuffix } from "./name-suffix.ts";
export {
  countSchema,
  labelSelectorSchema,
  objectSchemaOf,
  optional,
  type PodTemplate,
  podTemplateSchema,
} from "./object-schemas.ts";
export { adoptAndRelease, ownershipAction, isOwnerAlive, type Owner } from "./ownership.ts";
export {
  isActive,
  isAvailable,
  isReady,
  isTerminating,
  mayRun,
  nextAvailable,
  type Pod,
  podSchema,
  sidecarStatuses,
} from "./pod.ts";
export {
  createEachPod,
  createPods,
  podControlOf,
  deletePod,
  deletePods,
  isNamespaceTerminating,
  maxNameLength,
  burstReplicas,
  serverMessageOf,
  type WantedPod,
} from "./pod-control.ts";
export { ReplicaSet, type ReplicaSetObject, replicaSetSchema } from "./replica-set.ts";
export { type Clock, orphanWatch, publishAs, runContextOf, type WorkloadRunContext } from "./run-context.ts";
export { allAtOnce, type BatchResult } from "./slow-start.ts";
export { replaceStatus } from "./replace-status.ts";
export { requeueIn } from "./requeue-in.ts";
