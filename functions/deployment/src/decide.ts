import type { Draft } from "./draft.ts";
import { countReplicas, isComplete } from "./status/deployment-status.ts";
import { trimHistory } from "./revision/history.ts";
import { makeNewSet } from "./rollout/new-set.ts";
import { newSetOf } from "./rollout/find-new-set.ts";
import { deadlineOf, updateProgress, updatePauseCondition } from "./status/progress.ts";
import { isScaled, scaleInProportion } from "./rollout/proportional-scaling.ts";
import { recreate } from "./rollout/recreate.ts";
import { syncRevision } from "./revision/revision.ts";
import { rollingUpdate } from "./rollout/rolling-update.ts";
import { requestedRollback, rollBack } from "./revision/roll-back.ts";

/**
 * Decides the next step for a Deployment, and its status. One step is enough, because its result wakes the Deployment
 * again.
 *
 * @param oldMayRun true if a pod of the sets of other templates may still run; determined only where it matters.
 */
export function decide(draft: Draft, oldMayRun: boolean): void {
  const { spec, metadata } = draft.deployment;
  if (metadata.deletionTimestamp !== undefined) {
    syncRevision(draft);
    countReplicas(draft);
    return;
  }
  updatePauseCondition(draft);
  const revision = spec.paused ? undefined : requestedRollback(draft);
  if (revision !== undefined && !lacksRevision(draft)) {
    rollBack(draft, revision);
    return;
  }
  syncRevision(draft);
  if (revision !== undefined) {
    makeNewSet(draft);
    countReplicas(draft);
    return;
  }
  if (spec.paused || isScaled(draft)) {
    scaleInProportion(draft);
    if (spec.paused && requestedRollback(draft) === undefined) trimHistory(draft);
    countReplicas(draft);
    return;
  }
  const isMoving = spec.strategy.type === "Recreate" ? recreate(draft, oldMayRun) : rollingUpdate(draft);
  countReplicas(draft);
  updateProgress(draft);
  if (!isMoving && isComplete(draft)) trimHistory(draft);
}

/**
 * True if the present template is not a revision yet. A user may ask for it later, so its set is created before a
 * rollback.
 */
const lacksRevision = (draft: Draft): boolean =>
  newSetOf(draft) === undefined &&
  (draft.deployment.spec.strategy.type !== "Recreate" || draft.sets.length === 0);

/** Milliseconds after which the Deployment must be reconciled again even if nothing happens. Undefined for never. */
export function requeueDelay(draft: Draft): number | undefined {
  const deadline = draft.deployment.spec.paused ? undefined : deadlineOf(draft);
  // One second more, because times are written in full seconds.
  return deadline === undefined ? undefined : Math.max(1_000, deadline - draft.now.getTime() + 1_000);
}
