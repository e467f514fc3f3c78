import { activeOf, type Draft, isSeen, resize } from "./draft.ts";
import { makeNewSet } from "./new-set.ts";
import { newSetOf, oldSetsOf } from "./newest-set.ts";

/**
 * One step of a recreation: the old sets down to nothing; and once none of their pods may run any more, the new one up. A
 * set whose controller has yet to see that it is to have none may be making pods at this moment.
 *
 * @param oldMayRun whether a pod of the old sets may still run.
 */
export function recreate(draft: Draft, oldMayRun: boolean): boolean {
  const active = activeOf(oldSetsOf(draft));
  for (const old of active) resize(draft, old, 0);
  if (active.length > 0) return true;
  if (oldMayRun || oldSetsOf(draft).some((old) => old.set.status.replicas > 0 || !isSeen(old))) return true;
  const newest = newSetOf(draft) ?? makeNewSet(draft);
  resize(draft, newest, draft.deployment.spec.replicas);
  return false;
}
