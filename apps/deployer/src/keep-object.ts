import { ReconcileFunction, RetryAfterError } from "@drover/controller";
import {
  builtin,
  keyOf,
  type KubeClient,
  type KubeObject,
  type NewObject,
  type ResourceRef,
} from "@drover/kube";
import { type Home, isLabelledFor } from "./home.ts";

/** The annotation of cluster-scoped objects with the uid of the function that they are of: they can have no owner there. */
export const ownerAnnotation = "drover.dev/owner";

/** Keeps the objects of a function. */
export interface ObjectKeeper {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  /** The function. */
  readonly owner: Home;
}

/**
 * The object is there, and is as it is to be: what it is to have, it has; what others added besides stays. Nothing is
 * written when it is so already.
 *
 * @throws RetryAfterError when one of that name is there and belongs to somebody else: it may go.
 */
export async function keepObject(
  { client, signal, owner }: ObjectKeeper,
  ref: ResourceRef,
  wanted: NewObject,
): Promise<KubeObject> {
  const key = keyOf(wanted);
  const present = await client.get(ref, key, { signal });
  if (present === undefined) return client.create(ref, wanted, { signal });
  refuseForeign(ref, present, owner);
  if (covers(present, wanted)) return present;
  const { resourceVersion, uid } = present.metadata;
  const body = { ...wanted, metadata: { ...wanted.metadata, resourceVersion, uid } };
  return client.patch(ref, key, { type: "merge", body }, { signal });
}

/** @throws RetryAfterError for an object that belongs to another owner. */
export function refuseForeign(ref: ResourceRef, present: KubeObject, owner: Home): void {
  if (belongsTo(ref, present, owner)) return;
  const name = `${ref.kind} ${keyOf(present)}`;
  if (ownerUidOf(present) !== undefined && isLabelledFor(present, owner)) {
    const message = `${name} is of a function of this name that is gone, and goes next.`;
    throw new RetryAfterError(message, { after: "1s", reason: "FormerOneLeft" });
  }
  throw new RetryAfterError(
    `${name} is there and does not belong to this function. Remove it, or give the function another name.`,
    { after: "30s", reason: "NameTaken" },
  );
}

/** Takes an object away, if it is the function's. */
export async function dropObject(
  { client, signal, owner }: ObjectKeeper,
  ref: ResourceRef,
  { metadata }: Pick<NewObject, "metadata">,
): Promise<void> {
  const key = keyOf({ metadata });
  const present = await client.get(ref, key, { signal });
  if (present === undefined || !belongsTo(ref, present, owner)) return;
  await client.delete(ref, key, { uid: present.metadata.uid, signal });
}

/**
 * Whether an object is the function's. Roles and bindings that no function controls are known by their labels: those of a
 * function of the same namespace and name that is gone are taken over, for the garbage collector leaves them. They are
 * written whole, so what stood in them does not matter. A Secret is different: what stands in it is used.
 */
function belongsTo(ref: ResourceRef, object: KubeObject, owner: Home): boolean {
  const uid = object.metadata.annotations?.[ownerAnnotation];
  const isOfNone = ref.group === builtin.role.group && uid !== undefined;
  return uid === owner.uid || isControlledBy(object, owner.uid) || (isOfNone && isLabelledFor(object, owner));
}

/** The uid of the function that an object belongs to; undefined for an object of another owner. */
export const ownerUidOf = ({
  metadata: { annotations, ownerReferences = [] },
}: KubeObject): string | undefined =>
  annotations?.[ownerAnnotation] ??
  ownerReferences.find(
    ({ apiVersion, kind, controller }) =>
      controller === true && kind === ReconcileFunction.kind && apiVersion === ReconcileFunction.apiVersion,
  )?.uid;

export const isControlledBy = ({ metadata }: KubeObject, owner: string): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid, controller }) => uid === owner && controller === true);

/**
 * Whether `present` says all that `wanted` says. Lists are wanted whole; what is empty may be left out;
 * what is null is to be gone.
 */
export function covers(present: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (wanted === null) return present === undefined || present === null;
  if (Array.isArray(wanted)) {
    const items: readonly unknown[] = Array.isArray(present) ? present : [];
    return items.length === wanted.length && wanted.every((one, i) => covers(items[i], one));
  }
  if (typeof wanted !== "object") return Object.is(present, wanted);
  const fields: Readonly<Record<string, unknown>> =
    typeof present === "object" && present !== null ? { ...present } : {};
  return Object.entries(wanted).every(([name, value]) => covers(fields[name], value));
}
