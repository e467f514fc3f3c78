import { timestamp } from "@drover/controller";
import { conditionOf, withCondition, withoutCondition } from "@drover/workloads";
import type { DeploymentCondition, DeploymentStatus } from "./deployment.ts";
import type { Draft } from "./draft.ts";

/** What a condition is to say; when, is known where it is set. */
export type Stated = Required<Pick<DeploymentCondition, "type" | "status" | "reason" | "message">>;

export const condition = (
  type: "Progressing" | "Available",
  status: Stated["status"],
  reason: string,
  message: string,
): Stated => ({ type, status, reason, message });

export const conditionIn = (
  { conditions }: Pick<DeploymentStatus, "conditions">,
  type: string,
): DeploymentCondition | undefined => conditionOf(conditions, type);

/**
 * States a condition. One that says the same already stays, with its message and times; only where the status is another
 * one has it changed.
 */
export function setCondition(draft: Draft, stated: Stated): void {
  const standing = conditionIn(draft.status, stated.type);
  if (standing?.status === stated.status && standing.reason === stated.reason) return;
  restate(draft, stated);
}

/** The same, though the reason is the same: there was progress. */
export function restate(draft: Draft, stated: Stated): void {
  const standing = conditionIn(draft.status, stated.type);
  const now = timestamp(draft.now);
  const since = standing?.status === stated.status ? standing.lastTransitionTime : now;
  put(draft, { ...stated, lastUpdateTime: now, lastTransitionTime: since });
}

export function put(draft: Draft, whole: DeploymentCondition): void {
  draft.status = { ...draft.status, conditions: withCondition(draft.status.conditions, whole) };
}

export function dropCondition(draft: Draft, type: string): void {
  if (conditionIn(draft.status, type) === undefined) return;
  draft.status = { ...draft.status, conditions: withoutCondition(draft.status.conditions, type) };
}
