import { ReconcileFunction, RetryAfterError } from "@drover/controller";
import {
  builtin,
  isControlledBy,
  keyOf,
  type KubeClient,
  type KubeObject,
  type NewObject,
  type ResourceRef,
} from "@drover/kube";
import { type FunctionRef, isLabelledFor } from "../function-ref.ts";
import { authorsAnnotation, ownerAnnotation } from "../names.ts";

/** The parameters for writing the objects of a function. */
export interface OwnedObjectOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  /** The function. */
  readonly owner: FunctionRef;
}

/**
 * Creates the object, or patches it so that it has all that `wanted` has. Fields that others have added stay. If it is
 * so already, nothing is written.
 *
 * @throws RetryAfterError if an object of that name belongs to another owner: it may be deleted later.
 */
export async function applyObject(
  { client, signal, owner }: OwnedObjectOptions,
  ref: ResourceRef,
  wanted: NewObject,
): Promise<KubeObject> {
  const key = keyOf(wanted);
  const present = await client.get(ref, key, { signal });
  if (present === undefined) return client.create(ref, wanted, { signal });
  rejectForeignObject(ref, present, owner);
  const complete = withRemovals(present, wanted);
  if (covers(present, complete)) return present;
  const { resourceVersion, uid } = present.metadata;
  const body = { ...complete, metadata: { ...complete.metadata, resourceVersion, uid } };
  return client.patch(ref, key, { type: "merge", body }, { signal });
}

/** `wanted`, with null for the annotations that an author has asked for before, and asks for no longer. */
function withRemovals(present: KubeObject, wanted: NewObject) {
  const asked = present.metadata.annotations?.[authorsAnnotation];
  if (asked === undefined) return wanted;
  const former = [...asked.split(" "), authorsAnnotation].map((name): [string, null] => [name, null]);
  const annotations: Record<string, string | null> = {
    ...Object.fromEntries(former),
    ...wanted.metadata.annotations,
  };
  return { ...wanted, metadata: { ...wanted.metadata, annotations } };
}

/** @throws RetryAfterError for an object that belongs to another owner. */
export function rejectForeignObject(ref: ResourceRef, present: KubeObject, owner: FunctionRef): void {
  if (belongsTo(ref, present, owner)) return;
  const name = `${ref.kind} ${keyOf(present)}`;
  if (ownerUidOf(present) !== undefined && isLabelledFor(present, owner)) {
    const message = `${name} belongs to a deleted function of this name, and is deleted next.`;
    throw new RetryAfterError(message, { after: "1s", reason: "OldObjectExists" });
  }
  throw new RetryAfterError(
    `${name} exists and does not belong to this function, which needs an object of that name. Delete it if nothing uses it, or give the function another name.`,
    { after: "30s", reason: "NameTaken" },
  );
}

/** Deletes an object, if it belongs to the function. */
export async function deleteOwnedObject(
  { client, signal, owner }: OwnedObjectOptions,
  ref: ResourceRef,
  { metadata }: Pick<NewObject, "metadata">,
): Promise<void> {
  const key = keyOf({ metadata });
  const present = await client.get(ref, key, { signal });
  if (present === undefined || !belongsTo(ref, present, owner)) return;
  await client.delete(ref, key, { uid: present.metadata.uid, signal });
}

/**
 * True if an object belongs to the function. Roles and bindings that no function controls are recognized by their
 * labels: those of a former function of the same namespace and name are taken over, because the garbage collector
 * leaves them. That is safe, because their rules and subjects are overwritten. A Secret is never taken over, because
 * its contents are used.
 */
function belongsTo(ref: ResourceRef, object: KubeObject, owner: FunctionRef): boolean {
  const uid = object.metadata.annotations?.[ownerAnnotation];
  const isOfNone = ref.group === builtin.role.group && uid !== undefined;
  return (
    uid === owner.uid || isControlledBy(object.metadata, owner) || (isOfNone && isLabelledFor(object, owner))
  );
}

/** The uid of the function that an object belongs to. Undefined if it belongs to none. */
export const ownerUidOf = ({
  metadata: { annotations, ownerReferences = [] },
}: KubeObject): string | undefined =>
  annotations?.[ownerAnnotation] ??
  ownerReferences.find(
    ({ apiVersion, kind, controller }) =>
      controller === true && kind === ReconcileFunction.kind && apiVersion === ReconcileFunction.apiVersion,
  )?.uid;

/**
 * True if `present` has all fields of `wanted`. Lists must be equally long, with matching items in the same order. What
 * is empty in `wanted` may be absent; what is null in it must be absent.
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
