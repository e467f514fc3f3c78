import type { ObjectClient, ObjectMetadata, OwnerReference } from "@drover/controller";
import {
  controllerOf,
  controllerReference,
  isApiError,
  type KubeObject,
  keyOf,
  type LabelSelector,
  matchesLabels,
  type ResourceRef,
} from "@drover/kube";

/** An object that controls others, and the selector of their labels. */
export interface Owner {
  readonly ref: ResourceRef;
  readonly metadata: ObjectMetadata;
  readonly selector: LabelSelector;
}

/** The action of an owner on an object, by the object's labels and its controller. */
export type OwnershipAction = "own" | "adopt" | "release" | "leave";

/**
 * The rule of Kubernetes' controllers (controller-ref.md in its design proposals): an object with another controller is
 * left alone, even if the selector matches it. An owner that is being deleted neither adopts nor releases, and an
 * object that is being deleted is not adopted.
 */
export function ownershipAction(owner: Owner, { metadata }: KubeObject): OwnershipAction {
  const matches = matchesLabels(owner.selector, metadata.labels);
  const isEnding = owner.metadata.deletionTimestamp !== undefined;
  const controller = controllerOf(metadata);
  if (controller === undefined)
    return matches && !isEnding && metadata.deletionTimestamp === undefined ? "adopt" : "leave";
  if (controller.uid !== owner.metadata.uid) return "leave";
  if (matches) return "own";
  return isEnding ? "leave" : "release";
}

export interface OwnershipOptions {
  readonly client: ObjectClient;
  readonly owner: Owner;
  /** The kind of the claimed objects. */
  readonly kind: ResourceRef;
  readonly signal: AbortSignal;
  /** Added to an object that is adopted, and removed from one that is released. */
  readonly finalizer?: string;
}

/**
 * Adopts the orphans among these objects, releases those that no longer match, and returns the objects of the owner.
 *
 * Every write is for the version that was read: an object that has changed meanwhile causes a Conflict. Before the
 * first adoption the owner is read again: an owner that has been deleted meanwhile must not adopt orphans that its
 * deletion has created (kubernetes#42639).
 */
export async function adoptAndRelease<Object extends KubeObject>(
  parts: OwnershipOptions,
  objects: readonly Object[],
): Promise<readonly Object[]> {
  const { owner } = parts;
  const owned: Object[] = [];
  let mayAdopt: boolean | undefined;
  for (const object of objects) {
    const what = ownershipAction(owner, object);
    if (what === "own") owned.push(object);
    if (what === "release") await release(parts, object);
    if (what !== "adopt") continue;
    mayAdopt ??= await isOwnerAlive(parts);
    const adopted = mayAdopt ? await adopt(parts, object) : undefined;
    if (adopted !== undefined) owned.push({ ...object, metadata: adopted.metadata });
  }
  return owned;
}

/** True if the owner exists at this moment, with the same uid, and is not being deleted. Reads it live. */
export async function isOwnerAlive({
  client,
  owner,
  signal,
}: Pick<OwnershipOptions, "client" | "owner" | "signal">): Promise<boolean> {
  const now = await client.get(owner.ref, keyOf(owner), { signal });
  return now?.metadata.uid === owner.metadata.uid && now.metadata.deletionTimestamp === undefined;
}

const adopt = (parts: OwnershipOptions, object: KubeObject): Promise<KubeObject | undefined> =>
  withOwners(parts, object, [...(object.metadata.ownerReferences ?? []), controllerReference(parts.owner)]);

const release = (parts: OwnershipOptions, object: KubeObject): Promise<KubeObject | undefined> =>
  withOwners(
    parts,
    object,
    (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== parts.owner.metadata.uid),
  );

/** @returns undefined if the object is gone. */
async function withOwners(
  { client, kind, owner, signal, finalizer }: OwnershipOptions,
  object: KubeObject,
  ownerReferences: readonly OwnerReference[],
): Promise<KubeObject | undefined> {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((one) => one !== finalizer);
  const isOwned = ownerReferences.some((one) => one.uid === owner.metadata.uid);
  const held = finalizer !== undefined && { finalizers: isOwned ? [...others, finalizer] : others };
  const body = { metadata: { uid, resourceVersion, ownerReferences, ...held } };
  try {
    return await client.patch(kind, keyOf(object), { type: "merge", body }, { signal });
  } catch (error) {
    if (isApiError(error, "NotFound")) return undefined;
    throw error;
  }
}
