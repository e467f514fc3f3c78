// The verbs that write. Each runs from its checks to its commit without a wait, so requests cannot interleave.
import { admittedNew, admittedUpdate, isHeld, timestamp } from "../admission/admission.ts";
import { definitionsBucket, namespacesBucket } from "../storage/cluster.ts";
import type { Cluster } from "../storage/cluster.ts";
import { conditionOf } from "../definitions/custom-resources.ts";
import { decoded, refuseUnknown, refusing } from "./decoding.ts";
import type { Telling } from "./decoding.ts";
import { invalid } from "../admission/field-errors.ts";
import { quoted } from "../http/go-text.ts";
import { equal, isObject, listAt, objectAt, omit, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import {
  beingDeleted,
  finalizersOf,
  nameOf,
  namespaceOf,
  uidOf,
  versionOf,
  withMeta,
} from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { applied, configurationIn } from "./apply.ts";
import { fieldsToTake, withLastApplied } from "./last-applied.ts";
import { managersAfter } from "./managed-fields.ts";
import { nameFaults } from "../admission/names.ts";
import { bound, nodeOfBinding } from "../kinds/pods.ts";
import { asServed, asStored } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import * as status from "../http/status.ts";

/** The target of a request: an object, or all objects of a kind if the name is "". */
export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: "" | "status" | "binding";
}

export interface WriteOptions extends Telling {
  readonly dryRun: boolean;
  /** The name of the manager. */
  readonly manager: string;
}

const find = ({ store }: Cluster, { type, namespace, name }: Target) =>
  store.get(type.bucket, namespace, name);
/** Throws 400 if a name is invalid or a namespace is missing. */
export function refuseUnkeyed({ type, namespace, name }: Target): void {
  if (type.namespaced && namespace === "") throw status.badRequest("Namespace parameter required.");
  const [fault] = nameFaults("path", name);
  if (fault !== undefined) throw status.badRequest(`Name parameter invalid: ${quoted(name)}: ${fault}`);
}

/** Throws 400 or 404. */
export function existing(cluster: Cluster, target: Target): KubeObject {
  refuseUnkeyed(target);
  const object = find(cluster, target);
  if (!object) throw status.notFound(target.type, target.name);
  return object;
}
const commit = ({ store }: Cluster, type: ResourceType, object: KubeObject, dryRun: boolean): KubeObject =>
  asServed(type, dryRun ? asStored(type, object) : store.put(type.bucket, asStored(type, object)));

/** Decodes a body. Go reports unknown fields in the order of the body, but not for custom resources and patches. */
function decode({ type }: Target, body: Json, options: WriteOptions, inOrder = !type.custom): KubeObject {
  const unknown: string[] = [];
  const object = decoded(type, body, unknown);
  const faults = (inOrder || type.custom ? unknown : unknown.sort()).map(
    (path) => `unknown field ${JSON.stringify(path)}`,
  );
  refuseUnknown(type, faults, options.fieldValidation, options.warn);
  return object;
}

function inNamespace({ type, namespace }: Target, object: KubeObject): KubeObject {
  const given = namespaceOf(object);
  if (type.namespaced && given !== "" && given !== namespace)
    throw status.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  return withMeta(object, "namespace", namespace || undefined);
}

/** Throws 404 or 403 if the namespace of a new object is missing or being deleted. */
function refuseWithoutNamespace({ store }: Cluster, { type, namespace }: Target, object: JsonObject): void {
  if (namespace === "") return;
  const name = nameOf(object) || (textAt(object, "metadata", "generateName") ?? "");
  const home = store.get(namespacesBucket, "", namespace);
  if (!home) throw status.notFound({ group: "", resource: namespacesBucket, kind: "Namespace" }, namespace);
  const message = `namespace ${namespace} is being terminated`;
  const cause = { reason: "NamespaceTerminating", message, field: "metadata.namespace" };
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  if (beingDeleted(home)) throw status.forbiddenBy(type, name, why, cause);
}

/** POST. Throws 400, 404 (no such namespace), 409 or 422. */
export function create(cluster: Cluster, target: Target, body: Json, options: WriteOptions): KubeObject {
  const { metadata, ...content } = decode(target, body, options);
  const object = { ...content, metadata: omit(metadata, "deletionTimestamp", "deletionGracePeriodSeconds") };
  const made = add(cluster, target, object, managersOf(cluster, target, object, undefined, options), options);
  warnOf(target.type, object, undefined, options.warn);
  return made;
}

/**
 * Sends the warnings of a write: those of its kind, and one for each new finalizer without a domain of a custom
 * resource.
 */
function warnOf(
  type: ResourceType,
  object: KubeObject,
  old: KubeObject | undefined,
  warn: (text: string) => void,
): void {
  type.behaviour.warnings?.(object, old).forEach(warn);
  const known = ["orphan", "foregroundDeletion", "kubernetes", ...(old ? finalizersOf(old) : [])];
  const why =
    "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";
  for (const one of type.custom ? finalizersOf(object) : [])
    if (!one.includes("/") && !known.includes(one))
      warn(`metadata.finalizers: ${JSON.stringify(one)}: ${why}`);
}

/** The managedFields after a write of an object, which the fields that the server sets do not change. */
const managersOf = (
  cluster: Cluster,
  target: Target,
  object: KubeObject,
  old: KubeObject | undefined,
  { manager }: WriteOptions,
): Json | undefined => {
  const asked = target.type.behaviour.completed?.(object, old) ?? object;
  return managersAfter(cluster, { ...target, manager }, asked, old);
};

const leaving = "create not allowed while custom resource definition is terminating";

function add(
  cluster: Cluster,
  target: Target,
  object: KubeObject,
  managers: Json | undefined,
  { dryRun, warn }: WriteOptions,
): KubeObject {
  const { type, namespace } = target;
  const given = inNamespace(target, object);
  refuseWithoutNamespace(cluster, target, given);
  const others = cluster.store.list(type.bucket).objects;
  const turn = cluster.firstAddress + cluster.store.version;
  const allotted = type.behaviour.allotted?.(given, others, turn) ?? given;
  const admitted = admittedNew(type, allotted, cluster.now(), warn);
  const definition = type.custom ? cluster.store.get(definitionsBucket, "", type.bucket) : undefined;
  if (definition && conditionOf(definition, "Terminating") === "True")
    throw status.forbiddenBy(type, nameOf(admitted), leaving);
  if (Number(versionOf(given)) > 0)
    throw status.serverError("resourceVersion should not be set on objects to be created");
  const there = cluster.store.get(type.bucket, namespace, nameOf(admitted));
  if (there && textAt(given, "metadata", "generateName"))
    throw status.generatedNameTaken(type, nameOf(admitted), beingDeleted(there));
  if (there) throw status.alreadyExists(type, nameOf(admitted), beingDeleted(there));
  return commit(cluster, type, withMeta(admitted, "managedFields", managers), dryRun);
}

function refuseOtherName(name: string, object: JsonObject): void {
  const given = nameOf(object);
  if (given === name) return;
  if (given !== "")
    throw status.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  throw status.badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}

function refuseUnreadVersion(object: KubeObject): void {
  const version = versionOf(object);
  if (!/^\d*$/.test(version))
    throw status.serverError(`strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`);
}

/** PUT, of the object or of its status. Throws 400, 404, 409 or 422. */
export function replace(cluster: Cluster, target: Target, body: Json, options: WriteOptions): KubeObject {
  const { type, name } = target;
  const object = decode(target, body, options);
  refuseOtherName(name, object);
  const old = existing(cluster, target);
  const [wanted, uid] = [uidOf(object) || uidOf(old), uidOf(old)];
  const mismatch = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`;
  if (wanted !== uid) throw status.conflict(type, name, mismatch);
  const managers = managersOf(cluster, target, object, asServed(type, old), options);
  const updated = update(cluster, target, object, old, managers, options);
  warnOf(type, object, old, options.warn);
  return updated;
}

/** PATCH: the same as a PUT of the result of `change`, with the version of the object that it was made from. */
export function patch(
  cluster: Cluster,
  target: Target,
  change: (object: KubeObject) => Json,
  options: WriteOptions,
): KubeObject {
  const old = existing(cluster, target);
  const body = change(asServed(target.type, old));
  if (!isObject(body)) throw status.badRequest("the patch does not leave an object");
  const object = refusing(target.type, body, options, () => decode(target, body, options, false));
  refuseOtherName(target.name, object);
  const managers = managersOf(cluster, target, object, asServed(target.type, old), options);
  const updated = update(cluster, target, object, old, managers, options);
  warnOf(target.type, object, old, options.warn);
  return updated;
}

/**
 * PATCH of a configuration: server-side apply, which creates an object that does not exist. Throws 400, 404, 409, 422,
 * or 500 for a configuration that does not fit the kind.
 */
export function apply(
  cluster: Cluster,
  target: Target,
  body: Json,
  options: WriteOptions & { readonly force: boolean },
): { readonly object: KubeObject; readonly isNew: boolean } {
  const { type, name } = target;
  refuseUnkeyed(target);
  const old = find(cluster, target);
  if (!old && target.subresource !== "") throw status.notFound(type, name);
  const writing = { ...target, manager: options.manager };
  const config = configurationIn(type, body);
  const before = old && asServed(type, old);
  const mayTake = options.force ? "all" : fieldsToTake(type, options.manager, before);
  const result = applied(cluster, writing, config, before, mayTake);
  const object = withLastApplied(options.manager, decoded(type, result.object, [], true), config);
  const orphan = `uid mismatch: the provided object specified uid ${uidOf(object)}, and no existing object was found`;
  if (!old && uidOf(object) !== "") throw status.conflict(type, name, orphan);
  inNamespace(target, object);
  refuseOtherName(name, object);
  const made = old
    ? update(cluster, target, object, old, result.managers, options)
    : add(cluster, target, withMeta(object, "resourceVersion", undefined), result.managers, options);
  warnOf(type, object, old, options.warn);
  return { object: made, isNew: !old };
}

const withoutTimes = (object: KubeObject): KubeObject =>
  withMeta(
    object,
    "managedFields",
    listAt(object, "metadata", "managedFields").map((one) => omit(objectAt(one), "time")),
  );

function update(
  cluster: Cluster,
  target: Target,
  object: KubeObject,
  old: KubeObject,
  managers: Json | undefined,
  { dryRun, warn }: WriteOptions,
): KubeObject {
  const { type, name, namespace, subresource } = target;
  const expected = versionOf(object);
  refuseUnreadVersion(object);
  const missing = invalid("metadata.resourceVersion", 0, "must be specified for an update");
  if (expected === "" && !type.unconditionalUpdate)
    throw status.invalidObject({ group: type.group, kind: type.resource }, name, [missing]);
  if (expected !== "" && expected !== versionOf(old)) throw status.conflict(type, name);
  const before = asServed(type, old);
  const part = subresource === "status" ? "status" : "";
  const given = inNamespace(target, object);
  const admitted = admittedUpdate(type, given, before, part, warn);
  const managed = withMeta(admitted, "managedFields", managers);
  // A change of the times of managers alone is none.
  const after = equal(withoutTimes(managed), withoutTimes(before)) ? before : managed;
  if (!beingDeleted(old) || isHeld(type, after))
    // An equal object is written if its stored form differs: by its version, or by fields that its schema has lost.
    return equal(asStored(type, after), old) ? before : commit(cluster, type, after, dryRun);
  if (!dryRun) cluster.store.remove(type.bucket, namespace, name);
  return after;
}

/** POST of a Binding: puts a pod on a node. Throws 400, 404 or 409. */
export function bind(cluster: Cluster, target: Target, body: Json, { dryRun }: WriteOptions): JsonObject {
  const { type, name } = target;
  const node = nodeOfBinding(body, name);
  const pod = existing(cluster, target);
  refuseWithoutNamespace(cluster, target, pod);
  const uid = textAt(body, "metadata", "uid") ?? uidOf(pod);
  const mismatch = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${uidOf(pod)}`;
  if (uid !== uidOf(pod)) throw status.conflict(type, name, mismatch);
  commit(cluster, type, bound(pod, node, timestamp(cluster.now())), dryRun);
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}
