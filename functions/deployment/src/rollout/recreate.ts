import { activeOf, type Draft, isObserved, resize } from "../draft.ts";
import { makeNewSet } from "./new-set.ts";
import { newSetOf, oldSetsOf } from "./find-new-set.ts";

/**
 * One step of a recreation: the old sets are scaled to 0; and once none of their pods may run any more, the new one is
 * scaled up. A set may be creating pods until its controller has observed that it should have none.
 *
 * @param oldMayRun true if a pod of the old sets may still run.
 * @returns true as long as the new set is not scaled up.
 */
export function recreate(draft: Draft, oldMayRun: boolean): boolean {
  const active = activeOf(oldSetsOf(draft));
  for (const old of active) resize(draft, old, 0);
  if (active.length > 0) return true;
  if (oldMayRun || oldSetsOf(draft).some((old) => old.set.status.replicas > 0 || !isObserved(old)))
    return true;
  const newest = newSetOf(draft) ?? makeNewSet(draft);
  resize(draft, newest, draft.deployment.spec.replicas);
  return false;
}
