import { boundsOf } from "../deployment.ts";
import { activeOf, availableIn, type Draft, type DraftSet, resize, totalOf } from "../draft.ts";
import { makeNewSet, roomForNew } from "./new-set.ts";
import { newSetOf, oldSetsOf } from "./find-new-set.ts";

/**
 * One step of a rolling update. The new set is scaled up, within the limit of surge. If it has no room, the old sets
 * are scaled down, within the limit of availability, and their unavailable replicas first.
 *
 * @returns true if a set has another size now.
 */
export function rollingUpdate(draft: Draft): boolean {
  const newest = newSetOf(draft) ?? makeNewSet(draft);
  return growNew(draft, newest) || shrinkOld(draft, newest);
}

function growNew(draft: Draft, newest: DraftSet): boolean {
  const { replicas } = draft.deployment.spec;
  return resize(draft, newest, newest.replicas > replicas ? replicas : roomForNew(draft, newest));
}

function shrinkOld(draft: Draft, newest: DraftSet): boolean {
  const { deployment, sets } = draft;
  const old = activeOf(oldSetsOf(draft));
  if (old.length === 0) return false;
  const minAvailable = deployment.spec.replicas - boundsOf(deployment).maxUnavailable;
  // New pods that are not available must not cause available old ones to be deleted.
  const newUnavailable = newest.replicas - availableIn(newest);
  const spare = totalOf(sets) - minAvailable - newUnavailable;
  if (spare <= 0) return false;
  const useless = takeFrom(draft, old, spare, (one) => one.replicas - availableIn(one));
  const free = sets.reduce((sum, one) => sum + availableIn(one), 0) - minAvailable;
  return useless + takeFrom(draft, old, free, ({ replicas }) => replicas) > 0;
}

/** Takes up to `most` replicas from sets, oldest first, and up to `canGive` from each. Returns how many were taken. */
function takeFrom(
  draft: Draft,
  sets: readonly DraftSet[],
  most: number,
  canGive: (one: DraftSet) => number,
): number {
  let taken = 0;
  for (const one of sets) {
    const part = Math.min(most - taken, one.replicas, canGive(one));
    if (part <= 0) continue;
    resize(draft, one, one.replicas - part);
    taken += part;
  }
  return taken;
}
