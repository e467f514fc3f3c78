import { timestamp } from "@drover/controller";
import { conditionOf, withCondition, withoutCondition } from "@drover/workloads";
import type { DeploymentCondition, DeploymentStatus } from "../deployment.ts";
import type { Draft } from "../draft.ts";

/** A condition without its times, which are added when it is set. */
export type ConditionFields = Required<Pick<DeploymentCondition, "type" | "status" | "reason" | "message">>;

export const conditionFields = (
  type: "Progressing" | "Available",
  status: ConditionFields["status"],
  reason: string,
  message: string,
): ConditionFields => ({ type, status, reason, message });

export const findCondition = (
  { conditions }: Pick<DeploymentStatus, "conditions">,
  type: string,
): DeploymentCondition | undefined => conditionOf(conditions, type);

/**
 * Sets a condition. If the present one has the same status and reason, it stays, with its message and times. The time
 * of the last transition changes only with the status.
 */
export function setCondition(draft: Draft, stated: ConditionFields): void {
  const standing = findCondition(draft.status, stated.type);
  if (standing?.status === stated.status && standing.reason === stated.reason) return;
  updateCondition(draft, stated);
}

/** Sets a condition also if status and reason are the same: there was progress. */
export function updateCondition(draft: Draft, stated: ConditionFields): void {
  const standing = findCondition(draft.status, stated.type);
  const now = timestamp(draft.now);
  const since = standing?.status === stated.status ? standing.lastTransitionTime : now;
  putCondition(draft, { ...stated, lastUpdateTime: now, lastTransitionTime: since });
}

export function putCondition(draft: Draft, whole: DeploymentCondition): void {
  draft.status = { ...draft.status, conditions: withCondition(draft.status.conditions, whole) };
}

export function dropCondition(draft: Draft, type: string): void {
  if (findCondition(draft.status, type) === undefined) return;
  draft.status = { ...draft.status, conditions: withoutCondition(draft.status.conditions, type) };
}
