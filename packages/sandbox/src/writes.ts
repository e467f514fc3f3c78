// The verbs that change something. Each runs from its check to its commit without waiting, so requests cannot interleave.
import { admittedNew, admittedUpdate, hastened, isHeld, markedDeleted, timestamp } from "./admission.ts";
import { namespacesBucket } from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import { decoded, refuseUnknown } from "./decoding.ts";
import type { FieldValidation } from "./decoding.ts";
import { withDeletionPolicy } from "./deletion-policy.ts";
import type { Propagation } from "./deletion-policy.ts";
import { invalid } from "./field-errors.ts";
import { emptyObject, occasionFor, ownersAfter, ownersOf } from "./field-tracking.ts";
import { withOwners, withoutManaged } from "./field-tracking.ts";
import { equal, field, isObject, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { beingDeleted, nameOf, namespaceOf, uidOf, versionOf, withMeta } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import type { Owners } from "./managed-fields.ts";
import { bound, nodeOfBinding } from "./pods.ts";
import { asServed, asStored } from "./resource-type.ts";
import type { ResourceType } from "./resource-type.ts";
import { scaled, scaleOf } from "./scale.ts";
import type { ScaleChange } from "./scale.ts";
import { applied, configuration } from "./server-side-apply.ts";
import * as status from "./status.ts";

/** What a request is about: an object, or with the name "" all of a kind. */
export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: "" | "status" | "binding" | "scale";
}

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
  /** Under which name the request writes. */
  readonly manager: string;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Seconds, for kinds that are deleted gracefully. */
  readonly grace: number | undefined;
  /** What becomes of what the object owns; undefined leaves it to the object's finalizers. */
  readonly propagation: Propagation | undefined;
}

const find = ({ store }: Cluster, { type, namespace, name }: Target) =>
  store.get(type.bucket, namespace, name);
function existing(cluster: Cluster, target: Target): KubeObject {
  const object = find(cluster, target);
  if (!object) throw status.notFound(target.type, target.name);
  return object;
}
const commit = ({ store }: Cluster, type: ResourceType, object: KubeObject, dryRun: boolean): KubeObject =>
  asServed(type, dryRun ? asStored(type, object) : store.put(type.bucket, asStored(type, object)));

function decode({ type }: Target, body: Json, { fieldValidation, warn }: WriteOptions): KubeObject {
  const unknown: string[] = [];
  const object = decoded(type, body, unknown);
  refuseUnknown(type, unknown, fieldValidation, warn);
  return object;
}

function inNamespace({ type, namespace }: Target, object: KubeObject): KubeObject {
  const given = namespaceOf(object);
  if (type.namespaced && given !== "" && given !== namespace)
    throw status.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  return withMeta(object, "namespace", type.namespaced ? namespace : undefined);
}

/** Nothing is created in a namespace that is not there or about to go. */
function refuseWithoutNamespace({ store }: Cluster, { type, namespace }: Target, name: string): void {
  if (!type.namespaced) return;
  const home = store.get(namespacesBucket, "", namespace);
  if (!home) throw status.notFound({ group: "", resource: namespacesBucket, kind: "Namespace" }, namespace);
  const message = `namespace ${namespace} is being terminated`;
  const cause = { reason: "NamespaceTerminating", message, field: "metadata.namespace" };
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  if (beingDeleted(home)) throw status.forbiddenBy(type, name, why, cause);
}

/** POST. Throws 400, 404 (no such namespace), 409 or 422. */
export function create(cluster: Cluster, target: Target, body: Json, options: WriteOptions): KubeObject {
  const object = decode(target, body, options);
  return add(cluster, target, object, options.dryRun, tracked(cluster, target, body, options));
}

/** Who owns what after a change; the first argument is what was there before. */
type Tracking = (live: KubeObject | undefined, next: KubeObject) => Owners;
const tracked =
  (cluster: Cluster, target: Target, body: Json, { manager }: WriteOptions): Tracking =>
  (live, next) => {
    const complete = target.type.behaviour.completed?.(next, live) ?? next;
    return ownersAfter(cluster, target, { live, next: complete, body, manager });
  };

function add(
  cluster: Cluster,
  target: Target,
  object: KubeObject,
  dryRun: boolean,
  owners: Tracking,
): KubeObject {
  const { type, namespace } = target;
  const given = inNamespace(target, object);
  refuseWithoutNamespace(cluster, target, nameOf(given));
  if (versionOf(given) !== "")
    throw status.serverError("resourceVersion should not be set on objects to be created");
  const others = cluster.store.list(type.bucket).objects;
  const turn = cluster.firstAddress + cluster.store.version;
  const allotted = type.behaviour.allotted?.(given, others, turn) ?? given;
  const admitted = admittedNew(type, allotted, cluster.now());
  const there = cluster.store.get(type.bucket, namespace, nameOf(admitted));
  if (there) throw status.alreadyExists(type, nameOf(admitted), beingDeleted(there));
  return commit(cluster, type, withOwners(admitted, owners(undefined, given)), dryRun);
}

export function refuseOtherName(name: string, object: JsonObject): void {
  const given = nameOf(object);
  if (given === name) return;
  if (given !== "")
    throw status.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  throw status.badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}

/** PUT, of the object or of its status. Throws 400, 404, 409 or 422. */
export function replace(
  cluster: Cluster,
  target: Target,
  body: Json,
  options: WriteOptions,
): { object: KubeObject; created: boolean } {
  const { type, name, subresource } = target;
  const object = decode(target, body, options);
  const owners = tracked(cluster, target, body, options);
  refuseOtherName(target.name, object);
  if (type.createOnUpdate && subresource === "" && !find(cluster, target))
    return {
      object: add(cluster, target, withMeta(object, "resourceVersion", undefined), options.dryRun, owners),
      created: true,
    };
  const old = existing(cluster, target);
  const [wanted, uid] = [uidOf(object) || uidOf(old), uidOf(old)];
  if (wanted !== uid)
    throw status.conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`,
    );
  const missing = invalid("metadata.resourceVersion", 0, "must be specified for an update");
  if (versionOf(object) === "" && !type.unconditionalUpdate)
    throw status.invalidObject({ group: type.group, kind: type.resource }, name, [missing]);
  return { object: update(cluster, target, object, old, options.dryRun, owners), created: false };
}

/** PATCH: the same as a PUT of what `change` makes of the object, against the version it was made from. */
export function patch(
  cluster: Cluster,
  target: Target,
  change: (object: KubeObject) => Json,
  options: WriteOptions,
): KubeObject {
  const old = existing(cluster, target);
  const body = change(asServed(target.type, old));
  if (!isObject(body)) throw status.badRequest("the patch does not leave an object");
  const object = refusing(body, () => decode(target, body, options));
  refuseOtherName(target.name, object);
  return update(cluster, target, object, old, options.dryRun, tracked(cluster, target, body, options));
}

/**
 * PATCH by server-side apply; what is not there is created. Throws 400, 404, 409 (with a cause for each field that
 * another manager owns, unless forced), 422 or 500.
 */
export function apply(
  cluster: Cluster,
  target: Target,
  body: Json,
  options: WriteOptions & { readonly force: boolean },
): { object: KubeObject; created: boolean } {
  const { type, name } = target;
  const old = target.subresource === "" ? find(cluster, target) : existing(cluster, target);
  const occasion = occasionFor(cluster, target, options.manager);
  const config = configuration(occasion, type.kind, body);
  const empty = emptyObject(type);
  const before = old && asServed(type, old);
  const live = before ? withoutManaged(before) : empty;
  const known = before ? ownersOf(before) : new Map();
  const { object = live, owners } = applied(occasion, live, config, known, empty, options.force);
  const next = decoded(type, object, [], type.custom);
  refuseOtherName(target.name, next);
  if (old)
    return { object: update(cluster, target, next, old, options.dryRun, () => owners), created: false };
  const uid = `uid mismatch: the provided object specified uid ${uidOf(next)}, and no existing object was found`;
  if (uidOf(next) !== "") throw status.conflict(type, name, uid);
  return { object: add(cluster, target, next, options.dryRun, () => owners), created: true };
}

/** PUT or PATCH of the scale: writes the replicas of the object. Returns the new Scale. Throws 400, 404, 409 or 422. */
export function scale(
  cluster: Cluster,
  target: Target,
  change: ScaleChange,
  { dryRun, manager }: WriteOptions,
): KubeObject {
  const { type } = target;
  const old = existing(cluster, target);
  const { object, owners } = scaled(cluster, type, asServed(type, old), change, manager);
  return scaleOf(
    type,
    update(cluster, { ...target, subresource: "" }, object, old, dryRun, () => owners),
  );
}

/** What a patch leaves and cannot be read is a fault of the patch: 422 about it instead of a 400. */
function refusing(patched: Json, read: () => KubeObject): KubeObject {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof status.ApiError) || error.code !== 400) throw error;
    const fault = invalid("patch", JSON.stringify(patched), error.message);
    throw status.invalidObject({ group: "", kind: "" }, "", [fault]);
  }
}

function update(
  cluster: Cluster,
  target: Target,
  object: KubeObject,
  old: KubeObject,
  dryRun: boolean,
  owners: Tracking,
): KubeObject {
  const { type, name, namespace, subresource } = target;
  const expected = versionOf(object);
  if (!/^\d*$/.test(expected))
    throw status.serverError(`strconv.ParseUint: parsing ${JSON.stringify(expected)}: invalid syntax`);
  if (expected !== "" && expected !== versionOf(old)) throw status.conflict(type, name);
  const before = asServed(type, old);
  const part = subresource === "status" ? "status" : "";
  const given = inNamespace(target, object);
  const after = withOwners(admittedUpdate(type, given, before, part), owners(before, given));
  if (!beingDeleted(old) || isHeld(type, after))
    return equal(after, before) ? before : commit(cluster, type, after, dryRun);
  if (!dryRun) cluster.store.remove(type.bucket, namespace, name);
  return after;
}

function refusePreconditions(
  { type, name }: Target,
  object: KubeObject,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const check = (what: string, wanted: string | undefined, found: string, then: string): void => {
    if (wanted === undefined || wanted === found) return;
    const why = `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found})`;
    throw status.conflict(type, name, `${why}. The object might have been ${then}`, type.kind);
  };
  check("UID", uid, uidOf(object), "deleted and then recreated");
  check("ResourceVersion", resourceVersion, versionOf(object), "modified");
}

/**
 * DELETE. Removes the object, or marks it while finalizers hold it.
 * Returns the object when it stays or its kind answers so, a success Status otherwise. Throws 404 or 409.
 */
export function remove(cluster: Cluster, target: Target, options: DeleteOptions): JsonObject {
  const { type, name } = target;
  const old = existing(cluster, target);
  refusePreconditions(target, old, options);
  const { object, held } = deleteObject(cluster, type, old, options);
  return held || type.returnsDeleted ? asServed(type, object) : status.success(type, name, uidOf(old));
}

/**
 * Deletes what is there. Returns it as it was last, and whether it stays because something holds it. What is deleted
 * gracefully is marked before it goes, even when its grace is none: watches see both.
 */
export function deleteObject(
  { store, now }: Cluster,
  type: ResourceType,
  old: KubeObject,
  { dryRun = false, grace, propagation }: Partial<DeleteOptions> = {},
): { object: KubeObject; held: boolean } {
  const { gracePeriod } = type.behaviour;
  const decided = (one: KubeObject): KubeObject => withDeletionPolicy(one, propagation);
  const sooner = beingDeleted(old) && gracePeriod ? hastened(old, grace) : undefined;
  const object = beingDeleted(old)
    ? sooner === old
      ? old
      : decided(sooner ?? old)
    : markedDeleted(type, decided(old), now(), gracePeriod?.(old, grace));
  const held = isHeld(type, object);
  if (dryRun) return { object: held ? object : old, held };
  const marked = (held || gracePeriod) && object !== old ? store.put(type.bucket, object) : object;
  if (!held) store.remove(type.bucket, namespaceOf(old), nameOf(old));
  return { object: held || gracePeriod ? marked : old, held };
}

/** POST of a Binding: puts a pod on a node. Throws 400, 404 or 409. */
export function bind(cluster: Cluster, target: Target, body: Json, { dryRun }: WriteOptions): JsonObject {
  const { type, name } = target;
  const node = nodeOfBinding(body, name);
  const pod = existing(cluster, target);
  const uid = textAt(body, "metadata", "uid") ?? uidOf(pod);
  const mismatch = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${uidOf(pod)}`;
  if (uid !== uidOf(pod)) throw status.conflict(type, name, mismatch);
  commit(cluster, type, bound(pod, node, timestamp(cluster.now())), dryRun);
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

export function optionsOfDelete(
  body: Json,
  dryRun: boolean,
  propagation: Propagation | undefined,
): DeleteOptions {
  const kind = textAt(body, "kind") ?? "DeleteOptions";
  if (kind !== "DeleteOptions")
    throw status.badRequest(`no kind ${JSON.stringify(kind)} is registered for DeleteOptions`);
  const asked = (what: string): string | undefined => textAt(body, "preconditions", what);
  const [uid, resourceVersion] = [asked("uid"), asked("resourceVersion")];
  return { dryRun, uid, resourceVersion, grace: graceAsked(body), propagation };
}

function graceAsked(body: Json): number | undefined {
  const grace = field(body, "gracePeriodSeconds");
  if (grace === undefined || grace === null) return undefined;
  if (typeof grace !== "number" || !Number.isInteger(grace))
    throw status.badRequest("gracePeriodSeconds is not a whole number");
  return grace;
}
