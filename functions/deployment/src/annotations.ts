/** Which rollout a set was made for; on a Deployment, which one it is at. */
export const revisionAnnotation = "deployment.kubernetes.io/revision";
/** The revisions that a set was before somebody went back to it. */
export const historyAnnotation = "deployment.kubernetes.io/revision-history";
/** The Deployment's `replicas` when it last scaled a set: another number now means that somebody has scaled it. */
export const desiredAnnotation = "deployment.kubernetes.io/desired-replicas";
/** The same with surge: of which a set's size was a part. */
export const maxAnnotation = "deployment.kubernetes.io/max-replicas";
/** What became of `spec.rollbackTo` of the API's first versions. */
export const rollbackAnnotation = "deprecated.deployment.rollback.to";
/** The label that tells the pods of a Deployment's sets apart. */
export const hashLabel = "pod-template-hash";

export type Annotations = Readonly<Record<string, string>>;

/** Those that a set does not get from its Deployment. */
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

/** What both have, a Deployment and its newest set. */
export const sharedOf = (annotations: Annotations): Annotations =>
  only(annotations, (name) => !own.has(name));
/** What each has of its own. */
export const ownOf = (annotations: Annotations): Annotations => only(annotations, (name) => own.has(name));

/** A revision; 0 where there is none, and undefined for text that is not a revision. */
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

/** A size in an annotation; undefined where there is none, or what is no 32-bit size. */
export function sizeIn(annotations: Annotations, name: string): number | undefined {
  const text = annotations[name] ?? "";
  const size = /^\d+$/.test(text) ? Number(text) : undefined;
  return size !== undefined && size < 2 ** 31 ? size : undefined;
}
