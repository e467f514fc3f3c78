import { desiredAnnotation, maxAnnotation, sizeIn } from "../annotations.ts";
import { boundsOf } from "../deployment.ts";
import { activeOf, type Draft, type DraftSet, recordSizes, olderFirst, resize, totalOf } from "../draft.ts";
import { newSetOf, oldSetsOf } from "./find-new-set.ts";

/** True if the Deployment's size has been changed since its sets were scaled. */
export const isScaled = ({ deployment, sets }: Draft): boolean =>
  activeOf(sets).some(({ annotations }) => {
    const desired = sizeIn(annotations, desiredAnnotation);
    return desired !== undefined && desired !== deployment.spec.replicas;
  });

/**
 * Brings the sets to the Deployment's size without advancing a rollout. Replicas are added or removed in proportion to
 * the sets' sizes, so that a rollout that fails does not get a greater part
 * (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#proportional-scaling).
 */
export function scaleInProportion(draft: Draft): void {
  const { deployment } = draft;
  const { replicas, strategy } = deployment.spec;
  const only = onlyActive(draft);
  if (only !== undefined) {
    resize(draft, only, replicas);
  } else if (isSaturated(draft)) {
    for (const old of activeOf(oldSetsOf(draft))) resize(draft, old, 0);
  } else if (strategy.type === "RollingUpdate") {
    shareOut(draft);
  }
}

/** The only set with replicas. If none has replicas, the newest set. Undefined if several have. */
function onlyActive(draft: Draft): DraftSet | undefined {
  const [first, second] = activeOf(draft.sets);
  if (first !== undefined) return second === undefined ? first : undefined;
  return newSetOf(draft) ?? draft.sets.at(-1);
}

/** True if the newest set has all replicas that the Deployment asks for, and they are available. */
function isSaturated(draft: Draft): boolean {
  const newest = newSetOf(draft);
  const { replicas } = draft.deployment.spec;
  return (
    newest?.replicas === replicas &&
    sizeIn(newest.annotations, desiredAnnotation) === replicas &&
    newest.set.status.availableReplicas === replicas
  );
}

function shareOut(draft: Draft): void {
  const { deployment, sets } = draft;
  const { replicas } = deployment.spec;
  const active = activeOf(sets);
  const allowed = replicas > 0 ? replicas + boundsOf(deployment).maxSurge : 0;
  const toAdd = allowed - totalOf(active);
  // Larger sets first. Of sets of the same size, newer ones gain first and older ones lose first.
  const age = (a: DraftSet, b: DraftSet): number => olderFirst(a.set, b.set) * (toAdd > 0 ? -1 : 1);
  active.sort((a, b) => b.replicas - a.replicas || (toAdd === 0 ? 0 : age(a, b)));
  let added = 0;
  const sizes = active.map((one) => {
    const part = toAdd === 0 ? 0 : proportion(draft, one, toAdd, added);
    added += part;
    return one.replicas + part;
  });
  for (const [i, one] of active.entries()) {
    const rest = i === 0 ? toAdd - added : 0;
    // Also if the set's own size stays: the Deployment's size for which it was chosen has changed.
    if (!resize(draft, one, Math.max(0, (sizes[i] ?? 0) + rest))) recordSizes(draft, one);
  }
}

/** A set's part of the replicas to be added. Negative if replicas are to be removed. */
function proportion({ deployment }: Draft, one: DraftSet, toAdd: number, added: number): number {
  if (toAdd === added) return 0;
  const left = toAdd - added;
  const part = fraction();
  return toAdd > 0 ? Math.min(part, left) : Math.max(part, left);

  function fraction(): number {
    const { replicas } = deployment.spec;
    if (replicas === 0) return -one.replicas;
    const max = replicas + boundsOf(deployment).maxSurge;
    // A user may have removed the annotation.
    const before = sizeIn(one.annotations, maxAnnotation) || deployment.status.replicas;
    return before === 0 ? 0 : Math.round((one.replicas * max) / before) - one.replicas;
  }
}
