/** On a set: the rollout that it was created for. On a Deployment: the rollout that it is at. */
export const revisionAnnotation = "deployment.kubernetes.io/revision";
/** The earlier revisions of a set to which the Deployment was rolled back. */
export const historyAnnotation = "deployment.kubernetes.io/revision-history";
/** The Deployment's `replicas` when it last scaled a set. If they differ now, the Deployment itself has been scaled. */
export const desiredAnnotation = "deployment.kubernetes.io/desired-replicas";
/** The same with surge: the total of which the set's size was a part. */
export const maxAnnotation = "deployment.kubernetes.io/max-replicas";
/** The request to roll back to a revision: the place of `spec.rollbackTo` of the API's first versions. */
export const rollbackAnnotation = "deprecated.deployment.rollback.to";
/** The label that distinguishes the pods of a Deployment's sets. */
export const hashLabel = "pod-template-hash";

export type Annotations = Readonly<Record<string, string>>;

/** Annotations that a set does not get from its Deployment. */
const own: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  rollbackAnnotation,
]);

const only = (annotations: Annotations, isWanted: (name: string) => boolean): Annotations =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => isWanted(name)));

/** The annotations that a Deployment and its newest set share. */
export const sharedOf = (annotations: Annotations): Annotations =>
  only(annotations, (name) => !own.has(name));
/** The annotations that each of them has of its own. */
export const ownOf = (annotations: Annotations): Annotations => only(annotations, (name) => own.has(name));

/** The revision in these annotations. 0 if it is absent, undefined if its text is not a revision. */
export function revisionOf(annotations: Annotations = {}): bigint | undefined {
  const text = annotations[revisionAnnotation];
  return text === undefined ? 0n : revisionIn(text);
}

/** An integer of 64 bits, as kube-controller-manager reads it (Go's `ParseInt`); undefined for any other text. */
export function revisionIn(text: string): bigint | undefined {
  const [, sign = "", digits] = /^([+-]?)0*(\d{1,19})$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const revision = BigInt(`${sign}${digits}`);
  return BigInt.asIntN(64, revision) === revision ? revision : undefined;
}

/** The size in an annotation. Undefined if it is absent or not a 32-bit size. */
export function sizeIn(annotations: Annotations, name: string): number | undefined {
  const text = annotations[name] ?? "";
  const size = /^\d+$/.test(text) ? Number(text) : undefined;
  return size !== undefined && size < 2 ** 31 ? size : undefined;
}
