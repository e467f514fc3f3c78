import { revisionOf } from "../annotations.ts";
import { type Draft, type DraftSet, isObserved, olderFirst } from "../draft.ts";
import { oldSetsOf } from "../rollout/find-new-set.ts";

/**
 * Marks the earliest old sets for deletion, except for as many as the Deployment keeps. Sets that are not empty stay.
 */
export function trimHistory(draft: Draft): void {
  const { revisionHistoryLimit: limit } = draft.deployment.spec;
  if (limit === undefined) return;
  const old = oldSetsOf(draft)
    .filter(({ set }) => set.metadata.deletionTimestamp === undefined)
    .sort(byRevision);
  for (const one of old.slice(0, Math.max(0, old.length - limit))) one.isToBeDeleted = isEmpty(one);
}

/** True if the set has no replicas, should have none, and its controller has observed that. */
const isEmpty = (one: DraftSet): boolean =>
  one.set.status.replicas === 0 && one.set.spec.replicas === 0 && one.replicas === 0 && isObserved(one);

function byRevision(a: DraftSet, b: DraftSet): number {
  const [first, second] = [revisionOf(a.annotations), revisionOf(b.annotations)];
  if (first === undefined || second === undefined || first === second) return olderFirst(a.set, b.set);
  return first < second ? -1 : 1;
}
