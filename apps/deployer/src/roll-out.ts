/** A Pod of a function, as far as it matters here. */
export interface FunctionPod {
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
  readonly ready: boolean;
  readonly deleting: boolean;
  /** It has ended, and will not run again. */
  readonly ended: boolean;
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface PodChanges {
  readonly create: number;
  readonly remove: readonly FunctionPod[];
}

/**
 * From the Pods that there are to `wanted` ones of this revision. The older revisions' stay until as many of the new one
 * are Ready in their place: a version that does not start takes nothing away. Those that go end their runs first.
 */
export function podChanges(
  pods: readonly FunctionPod[],
  { revision, wanted }: { readonly revision: number; readonly wanted: number },
): PodChanges {
  const staying = pods.filter(({ deleting }) => !deleting);
  const ended = staying.filter((pod) => pod.ended);
  const alive = staying.filter((pod) => !pod.ended);
  const current = alive.filter((pod) => pod.revision === revision).sort(firstToGo);
  const older = alive.filter((pod) => pod.revision !== revision).sort(firstToGo);
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

/** Who does nothing yet goes before who works, and who came last before who came first. */
const firstToGo = (a: FunctionPod, b: FunctionPod): number =>
  Number(a.ready) - Number(b.ready) || a.revision - b.revision || (a.createdAt < b.createdAt ? 1 : -1);
