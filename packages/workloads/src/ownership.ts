import type { ObjectClient, ObjectMetadata, OwnerReference } from "@drover/controller";
import {
  apiVersionOf,
  isApiError,
  type KubeObject,
  keyOf,
  type LabelSelector,
  matchesLabels,
  type ResourceRef,
} from "@drover/kube";

/** An object that controls others, and the labels of those. */
export interface Owner {
  readonly ref: ResourceRef;
  readonly metadata: ObjectMetadata;
  readonly selector: LabelSelector;
}

/** The reference by which an object says that this one controls it (`metav1.NewControllerRef`). */
export const controllerReference = ({ ref, metadata }: Pick<Owner, "ref" | "metadata">): OwnerReference => ({
  apiVersion: apiVersionOf(ref),
  kind: ref.kind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

export const controllerOf = ({ ownerReferences = [] }: ObjectMetadata): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller === true);

export const isControlledBy = (metadata: ObjectMetadata, owner: Pick<ObjectMetadata, "uid">): boolean =>
  controllerOf(metadata)?.uid === owner.uid;

/** What an owner is to do with an object, by its labels and its controller. */
export type Claim = "own" | "adopt" | "release" | "leave";

/**
 * The rule of Kubernetes' controllers (controller-ref.md in its design proposals): whoever is controlled by another one
 * is left alone, also by who would select it; nobody adopts or releases while being deleted, or what is being deleted.
 */
export function claimOf(owner: Owner, { metadata }: KubeObject): Claim {
  const matches = matchesLabels(owner.selector, metadata.labels);
  const isEnding = owner.metadata.deletionTimestamp !== undefined;
  const controller = controllerOf(metadata);
  if (controller === undefined)
    return matches && !isEnding && metadata.deletionTimestamp === undefined ? "adopt" : "leave";
  if (controller.uid !== owner.metadata.uid) return "leave";
  if (matches) return "own";
  return isEnding ? "leave" : "release";
}

export interface ClaimParts {
  readonly client: ObjectClient;
  readonly owner: Owner;
  /** The kind of what is claimed. */
  readonly kind: ResourceRef;
  readonly signal: AbortSignal;
}

/**
 * Adopts the orphans among these objects, releases those that no longer match, and answers the owner's.
 *
 * Every write is for the version that was read: one that somebody has changed meanwhile throws a Conflict. Before the
 * first adoption the owner is read again: one that is deleted by now must not take orphans that its deletion has made
 * (kubernetes#42639).
 */
export async function claim<Object extends KubeObject>(
  parts: ClaimParts,
  objects: readonly Object[],
): Promise<readonly Object[]> {
  const { owner } = parts;
  const mine: Object[] = [];
  let mayAdopt: boolean | undefined;
  for (const object of objects) {
    const what = claimOf(owner, object);
    if (what === "own") mine.push(object);
    if (what === "release") await release(parts, object);
    if (what !== "adopt") continue;
    mayAdopt ??= await isStillThere(parts);
    const adopted = mayAdopt ? await adopt(parts, object) : undefined;
    if (adopted !== undefined) mine.push({ ...object, metadata: adopted.metadata });
  }
  return mine;
}

/** Whether an owner is there at this moment, the same one, and not being deleted: asked live. */
export async function isStillThere({
  client,
  owner,
  signal,
}: Pick<ClaimParts, "client" | "owner" | "signal">): Promise<boolean> {
  const now = await client.get(owner.ref, keyOf(owner), { signal });
  return now?.metadata.uid === owner.metadata.uid && now.metadata.deletionTimestamp === undefined;
}

const adopt = (parts: ClaimParts, object: KubeObject): Promise<KubeObject | undefined> =>
  withOwners(parts, object, [...(object.metadata.ownerReferences ?? []), controllerReference(parts.owner)]);

const release = (parts: ClaimParts, object: KubeObject): Promise<KubeObject | undefined> =>
  withOwners(
    parts,
    object,
    (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== parts.owner.metadata.uid),
  );

/** @returns undefined when the object is gone. */
async function withOwners(
  { client, kind, signal }: ClaimParts,
  object: KubeObject,
  ownerReferences: readonly OwnerReference[],
): Promise<KubeObject | undefined> {
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, ownerReferences } };
  try {
    return await client.patch(kind, keyOf(object), { type: "merge", body }, { signal });
  } catch (error) {
    if (isApiError(error, "NotFound")) return undefined;
    throw error;
  }
}
