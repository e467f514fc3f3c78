/** The parts of a function's Pod that a roll-out uses. */
export interface RolloutPod {
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly ready: boolean;
  readonly deleting: boolean;
  /** True if the Pod has ended and does not run again. */
  readonly ended: boolean;
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface PodChanges {
  readonly create: number;
  readonly remove: readonly RolloutPod[];
}

/**
 * The changes that lead from the present Pods to `wanted` Pods of this revision. Older Pods stay until as many new ones
 * are Ready in their place, so a version that does not start removes none. Deleted Pods end their runs first.
 */
export function planPodChanges(
  pods: readonly RolloutPod[],
  { revision, wanted }: { readonly revision: number; readonly wanted: number },
): PodChanges {
  const staying = pods.filter(({ deleting }) => !deleting);
  const ended = staying.filter((pod) => pod.ended);
  const alive = staying.filter((pod) => !pod.ended);
  const current = alive.filter((pod) => pod.revision === revision).sort(byDeletionOrder);
  const older = alive.filter((pod) => pod.revision !== revision).sort(byDeletionOrder);
  const standIns = Math.max(0, wanted - current.filter(({ ready }) => ready).length);
  return {
    create: Math.max(0, wanted - current.length),
    remove: [
      ...ended,
      ...current.slice(0, Math.max(0, current.length - wanted)),
      ...older.slice(0, Math.max(0, older.length - standIns)),
    ],
  };
}

/** The order of deletion: Pods that are not Ready first, then Pods of lower revisions, then the Pods created last. */
const byDeletionOrder = (a: RolloutPod, b: RolloutPod): number =>
  Number(a.ready) - Number(b.ready) || a.revision - b.revision || (a.createdAt < b.createdAt ? 1 : -1);
