// The verbs that change something. Each runs from its check to its commit without waiting, so requests cannot interleave.
import { admittedNew, admittedUpdate, isHeld, markedDeleted } from "./admission.ts";
import { namespacesBucket } from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import { decoded, refuseUnknown } from "./decoding.ts";
import type { FieldValidation } from "./decoding.ts";
import { invalid } from "./field-errors.ts";
import { equal, isObject, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { beingDeleted, nameOf, namespaceOf, uidOf, versionOf, withMeta } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { asServed, asStored } from "./resource-type.ts";
import type { ResourceType } from "./resource-type.ts";
import {
  ApiError,
  alreadyExists,
  badRequest,
  conflict,
  forbiddenBy,
  invalidObject,
  notFound,
  serverError,
  success,
} from "./status.ts";

/** Which object a request is about. */
export interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: "" | "status";
}

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface Written {
  readonly object: KubeObject;
  readonly created: boolean;
}

const stored = (cluster: Cluster, { type, namespace, name }: Target): KubeObject => {
  const object = cluster.store.get(type.bucket, namespace, name);
  if (!object) throw notFound(type, name);
  return object;
};
const commit = (cluster: Cluster, type: ResourceType, object: KubeObject, dryRun: boolean): KubeObject =>
  asServed(type, dryRun ? asStored(type, object) : cluster.store.put(type.bucket, asStored(type, object)));

function decode(type: ResourceType, body: Json, { fieldValidation, warn }: WriteOptions): KubeObject {
  const unknown: string[] = [];
  const object = decoded(type, body, unknown);
  refuseUnknown(type, unknown, fieldValidation, warn);
  return object;
}

function inNamespace(type: ResourceType, object: KubeObject, namespace: string): KubeObject {
  const given = namespaceOf(object);
  if (type.namespaced && given !== "" && given !== namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  return type.namespaced
    ? withMeta(object, "namespace", namespace)
    : withMeta(object, "namespace", undefined);
}

/** Nothing is created in a namespace that is not there or about to go. */
function refuseWithoutNamespace(cluster: Cluster, type: ResourceType, namespace: string, name: string): void {
  if (!type.namespaced) return;
  const home = cluster.store.get(namespacesBucket, "", namespace);
  if (!home) throw notFound({ group: "", resource: namespacesBucket, kind: "Namespace" }, namespace);
  if (!beingDeleted(home)) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbiddenBy(type, name, why, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
}

/** POST. Throws 400, 404 (no such namespace), 409 or 422. */
export function create(
  cluster: Cluster,
  type: ResourceType,
  namespace: string,
  body: Json,
  options: WriteOptions,
): KubeObject {
  return createDecoded(cluster, type, namespace, decode(type, body, options), options.dryRun);
}

function createDecoded(
  cluster: Cluster,
  type: ResourceType,
  namespace: string,
  decodedObject: KubeObject,
  dryRun: boolean,
): KubeObject {
  const given = inNamespace(type, decodedObject, namespace);
  refuseWithoutNamespace(cluster, type, namespace, nameOf(given));
  if (versionOf(given) !== "")
    throw serverError("resourceVersion should not be set on objects to be created");
  const object = admittedNew(type, given, namespace, cluster.now());
  const existing = cluster.store.get(type.bucket, namespace, nameOf(object));
  if (existing) throw alreadyExists(type, nameOf(object), beingDeleted(existing));
  return commit(cluster, type, object, dryRun);
}

function refuseOtherName({ name }: Target, object: KubeObject): void {
  const given = nameOf(object);
  if (given === "")
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

/** PUT, of the object or of its status. Throws 400, 404, 409 or 422. */
export function replace(cluster: Cluster, target: Target, body: Json, options: WriteOptions): Written {
  const { type, namespace, name, subresource } = target;
  const object = decode(type, body, options);
  refuseOtherName(target, object);
  if (type.createOnUpdate && subresource === "" && !cluster.store.get(type.bucket, namespace, name))
    return {
      object: createDecoded(
        cluster,
        type,
        namespace,
        withMeta(object, "resourceVersion", undefined),
        options.dryRun,
      ),
      created: true,
    };
  const old = stored(cluster, target);
  const uid = uidOf(object);
  if (uid !== "" && uid !== uidOf(old))
    throw conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${uidOf(old)}`,
    );
  if (versionOf(object) === "" && !type.unconditionalUpdate)
    throw invalidObject({ group: type.group, kind: type.resource }, name, [
      invalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  return { object: update(cluster, target, object, old, options.dryRun), created: false };
}

/** PATCH: the same as a PUT of what `patched` makes of the object, against the version it was made from. */
export function patch(
  cluster: Cluster,
  target: Target,
  patched: (object: KubeObject) => Json,
  options: WriteOptions,
): KubeObject {
  const { type } = target;
  const old = stored(cluster, target);
  const body = patched(asServed(type, old));
  if (!isObject(body)) throw badRequest("the patch does not leave an object");
  const unknown: string[] = [];
  const object = refusing(body, () => decoded(type, body, unknown));
  refuseOtherName(target, object);
  refusing(body, () => refuseUnknown(type, unknown, options.fieldValidation, options.warn));
  return update(cluster, target, object, old, options.dryRun);
}

/** What a patch leaves and cannot be read is a fault of the patch: 422 about it instead of a 400. */
function refusing<T>(patched: Json, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    throw invalidObject({ group: "", kind: "" }, "", [
      invalid("patch", JSON.stringify(patched), error.message),
    ]);
  }
}

function update(
  cluster: Cluster,
  target: Target,
  object: KubeObject,
  old: KubeObject,
  dryRun: boolean,
): KubeObject {
  const { type, name, namespace, subresource } = target;
  const expected = versionOf(object);
  if (!/^\d*$/.test(expected))
    throw serverError(`strconv.ParseUint: parsing ${JSON.stringify(expected)}: invalid syntax`);
  if (expected !== "" && expected !== versionOf(old)) throw conflict(type, name);
  const before = asServed(type, old);
  const after = admittedUpdate(type, inNamespace(type, object, namespace), before, subresource);
  if (beingDeleted(old) && !isHeld(type, after)) {
    if (!dryRun) cluster.store.remove(type.bucket, namespace, name);
    return after;
  }
  return equal(after, before) ? before : commit(cluster, type, after, dryRun);
}

function refusePreconditions(
  { type, name }: Target,
  object: KubeObject,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const differs = (what: string, wanted: string, found: string, then: string): Error =>
    conflict(
      type,
      name,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). The object might have been ${then}`,
      type.kind,
    );
  if (uid !== undefined && uid !== uidOf(object))
    throw differs("UID", uid, uidOf(object), "deleted and then recreated");
  if (resourceVersion !== undefined && resourceVersion !== versionOf(object))
    throw differs("ResourceVersion", resourceVersion, versionOf(object), "modified");
}

/**
 * DELETE. Removes the object, or marks it while finalizers hold it.
 * Returns the object when it stays or its kind answers so, a success Status otherwise. Throws 404 or 409.
 */
export function remove(cluster: Cluster, target: Target, options: DeleteOptions): JsonObject {
  const { type } = target;
  const old = stored(cluster, target);
  refusePreconditions(target, old, options);
  const { object, held } = deleteObject(cluster, type, old, options.dryRun);
  return held || type.returnsDeleted ? asServed(type, object) : success(type, nameOf(old), uidOf(old));
}

/** Deletes what is there. Returns it as it was last, and whether it stays because something holds it. */
export function deleteObject(
  cluster: Cluster,
  type: ResourceType,
  old: KubeObject,
  dryRun = false,
): { readonly object: KubeObject; readonly held: boolean } {
  const marked = beingDeleted(old) ? old : markedDeleted(type, old, cluster.now());
  if (isHeld(type, marked))
    return { object: dryRun || marked === old ? marked : cluster.store.put(type.bucket, marked), held: true };
  if (!dryRun) cluster.store.remove(type.bucket, namespaceOf(old), nameOf(old));
  return { object: old, held: false };
}

export function optionsOfDelete(body: Json | undefined, dryRun: boolean): DeleteOptions {
  const kind = textAt(body, "kind") ?? "DeleteOptions";
  if (kind !== "DeleteOptions")
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for DeleteOptions`);
  const [uid, resourceVersion] = [
    textAt(body, "preconditions", "uid"),
    textAt(body, "preconditions", "resourceVersion"),
  ];
  return { dryRun, uid, resourceVersion };
}
