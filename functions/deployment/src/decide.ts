import type { Draft } from "./draft.ts";
import { countReplicas, isComplete } from "./deployment-status.ts";
import { forgetOldSets } from "./history.ts";
import { makeNewSet } from "./new-set.ts";
import { newSetOf } from "./newest-set.ts";
import { deadlineOf, noteProgress, noteWhetherPaused } from "./progress.ts";
import { isScaled, scaleInProportion } from "./proportional-scaling.ts";
import { recreate } from "./recreate.ts";
import { syncRevision } from "./revision.ts";
import { roll } from "./roll.ts";
import { askedRollback, rollBack } from "./roll-back.ts";

/**
 * Decides what is to be done about a Deployment now, and what is to be said of it: one step, for what comes of it wakes
 * the Deployment again.
 *
 * @param oldMayRun whether a pod of the sets of other templates may still run; asked only where it matters.
 */
export function decide(draft: Draft, oldMayRun: boolean): void {
  const { spec, metadata } = draft.deployment;
  if (metadata.deletionTimestamp !== undefined) {
    syncRevision(draft);
    countReplicas(draft);
    return;
  }
  noteWhetherPaused(draft);
  const revision = spec.paused ? undefined : askedRollback(draft);
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
    if (spec.paused && askedRollback(draft) === undefined) forgetOldSets(draft);
    countReplicas(draft);
    return;
  }
  const isMoving = spec.strategy.type === "Recreate" ? recreate(draft, oldMayRun) : roll(draft);
  countReplicas(draft);
  noteProgress(draft);
  if (!isMoving && isComplete(draft)) forgetOldSets(draft);
}

/** Whether the template is no revision yet, which somebody may ask for: its set is made before anybody goes back. */
const lacksRevision = (draft: Draft): boolean =>
  newSetOf(draft) === undefined &&
  (draft.deployment.spec.strategy.type !== "Recreate" || draft.sets.length === 0);

/** In how long the Deployment must be looked at again, though nothing happens: milliseconds, undefined for never. */
export function nextLook(draft: Draft): number | undefined {
  const deadline = draft.deployment.spec.paused ? undefined : deadlineOf(draft);
  // A second more: times are written in whole seconds.
  return deadline === undefined ? undefined : Math.max(1_000, deadline - draft.now.getTime() + 1_000);
}
