import { boundsOf } from "./deployment.ts";
import { activeOf, availableIn, type Draft, type DraftSet, resize, totalOf } from "./draft.ts";
import { makeNewSet, roomForNew } from "./new-set.ts";
import { newSetOf, oldSetsOf } from "./newest-set.ts";

/**
 * One step of a rolling update: the new set as far up as surge allows; or else the old ones down, those that are of no
 * use first, as far as availability allows. True when something was moved.
 */
export function roll(draft: Draft): boolean {
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
  // New pods that are not available must not make old ones go that are.
  const newUnavailable = newest.replicas - availableIn(newest);
  const spare = totalOf(sets) - minAvailable - newUnavailable;
  if (spare <= 0) return false;
  const useless = takeFrom(draft, old, spare, (one) => one.replicas - availableIn(one));
  const free = sets.reduce((sum, one) => sum + availableIn(one), 0) - minAvailable;
  return useless + takeFrom(draft, old, free, ({ replicas }) => replicas) > 0;
}

/** Takes so many replicas from sets, of each as many as it can give, oldest first. Answers how many. */
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
