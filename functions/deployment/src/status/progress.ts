import { conditionOf, type WorkloadCondition } from "@drover/workloads";
import {
  conditionFields,
  findCondition,
  dropCondition,
  putCondition,
  updateCondition,
  setCondition,
  type ConditionFields,
} from "./deployment-conditions.ts";
import type { DeploymentStatus } from "../deployment.ts";
import { isComplete } from "./deployment-status.ts";
import type { Draft } from "../draft.ts";
import { newSetOf, oldSetsOf } from "../rollout/find-new-set.ts";

/**
 * Records in Progressing if the Deployment was paused or resumed. The deadline does not run while it is paused, and
 * begins again after that.
 */
export function updatePauseCondition(draft: Draft): void {
  const { paused, progressDeadlineSeconds } = draft.deployment.spec;
  const reason = findCondition(draft.status, "Progressing")?.reason;
  if (progressDeadlineSeconds === undefined || reason === "ProgressDeadlineExceeded") return;
  const wasPaused = reason === "DeploymentPaused";
  if (paused && !wasPaused)
    setCondition(
      draft,
      conditionFields("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"),
    );
  if (!paused && wasPaused)
    setCondition(
      draft,
      conditionFields("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed"),
    );
}

/**
 * Sets Progressing: complete, moving, or stuck for longer than `progressDeadlineSeconds`. Sets ReplicaFailure if a set
 * could not create or delete pods.
 */
export function updateProgress(draft: Draft): void {
  const { status, deployment } = draft;
  if (deployment.spec.progressDeadlineSeconds === undefined) dropCondition(draft, "Progressing");
  else if (!wasComplete(draft)) updateRolloutProgress(draft, status);
  updateReplicaFailure(draft);
}

/**
 * True if one rollout was completed and no other has begun since: then changes of its pods do not count as progress.
 */
function wasComplete({ status, deployment }: Draft): boolean {
  const { reason } = findCondition(deployment.status, "Progressing") ?? {};
  return status.replicas === status.updatedReplicas && reason === "NewReplicaSetAvailable";
}

function updateRolloutProgress(draft: Draft, status: DeploymentStatus): void {
  const name = newSetOf(draft)?.set.metadata.name;
  const subject =
    name === undefined ? `Deployment "${draft.deployment.metadata.name}"` : `ReplicaSet "${name}"`;
  const progressing = (is: ConditionFields["status"], reason: string, what: string): ConditionFields =>
    conditionFields("Progressing", is, reason, `${subject} ${what}`);
  if (isComplete(draft)) {
    setCondition(draft, progressing("True", "NewReplicaSetAvailable", "has successfully progressed."));
  } else if (hasMoved(draft.deployment.status, status)) {
    updateCondition(draft, progressing("True", "ReplicaSetUpdated", "is progressing."));
  } else if (isPastDeadline(draft)) {
    setCondition(draft, progressing("False", "ProgressDeadlineExceeded", "has timed out progressing."));
  }
}

/** True if there are more new pods, fewer old ones, or more that are ready or available. */
const hasMoved = (before: DeploymentStatus, now: DeploymentStatus): boolean =>
  now.updatedReplicas > before.updatedReplicas ||
  now.replicas - now.updatedReplicas < before.replicas - before.updatedReplicas ||
  now.readyReplicas > before.readyReplicas ||
  now.availableReplicas > before.availableReplicas;

function isPastDeadline(draft: Draft): boolean {
  const deadline = deadlineOf(draft);
  return deadline !== undefined && deadline < draft.now.getTime();
}

/**
 * The time at which the rollout counts as stuck unless something moves, in milliseconds since 1970. Undefined if it is
 * complete, is stuck already, or has no deadline.
 */
export function deadlineOf({ status, deployment }: Draft): number | undefined {
  const { progressDeadlineSeconds } = deployment.spec;
  const { reason = "", lastUpdateTime } = findCondition(status, "Progressing") ?? {};
  if (progressDeadlineSeconds === undefined || lastUpdateTime == null || finalReasons.has(reason))
    return undefined;
  return Date.parse(lastUpdateTime) + progressDeadlineSeconds * 1_000;
}

const finalReasons: ReadonlySet<string> = new Set(["NewReplicaSetAvailable", "ProgressDeadlineExceeded"]);

/** Copies a failure of a set to the Deployment: that of the newest set, or else of any set. */
function updateReplicaFailure(draft: Draft): void {
  const newest = newSetOf(draft);
  const sets = [...(newest ? [newest] : []), ...oldSetsOf(draft)];
  const [failure] = sets.flatMap(({ set }) => conditionOf(set.status.conditions, "ReplicaFailure") ?? []);
  if (failure === undefined) dropCondition(draft, "ReplicaFailure");
  else setReplicaFailure(draft, failure);
}

/**
 * Does what Kubernetes' SetDeploymentCondition does: a condition with the same status and reason stays, and one with
 * the same status keeps its time of transition.
 */
function setReplicaFailure(draft: Draft, failure: WorkloadCondition): void {
  const standing = findCondition(draft.status, failure.type);
  const isSame = standing?.status === failure.status;
  if (isSame && standing.reason === failure.reason) return;
  const { lastTransitionTime: lastUpdateTime } = failure;
  const lastTransitionTime = isSame ? standing.lastTransitionTime : lastUpdateTime;
  putCondition(draft, { ...failure, lastUpdateTime, lastTransitionTime });
}
