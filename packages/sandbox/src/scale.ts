// The scale subresource: an autoscaling/v1 Scale of an object, made from its fields and written back into one of them.
import { decoded, refusing } from "./decoding.ts";
import type { Telling } from "./decoding.ts";
import { goType, goValue } from "./go-text.ts";
import { field, isObject, objectAt, omit, textAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Cluster } from "./cluster.ts";
import { invalid, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { difference, isEmptySet, noFields, setOf } from "./field-sets.ts";
import type { FieldSet } from "./field-sets.ts";
import { occasionFor, ownersOf, withOwners } from "./field-tracking.ts";
import { keyOf, nameOf, namespaceOf, uidOf, versionOf, withMeta } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { idOf, ownersAfterUpdate } from "./managed-fields.ts";
import type { Occasion, Owners, Ownership } from "./managed-fields.ts";
import { plainType } from "./resource-type.ts";
import type { Behaviour, ResourceType, ScalePaths } from "./resource-type.ts";
import { always, fields, integer, or, string } from "./schema-words.ts";
import { selectorText } from "./selectors.ts";
import { applied, configuration } from "./server-side-apply.ts";
import * as status from "./status.ts";

const scaleSchema = fields({
  spec: always(fields({ replicas: integer })),
  status: always(fields({ replicas: or(integer, 0), selector: string })),
});

/** A Scale as a type of its own, as far as decoding, merging and showing need it; named like the kind it scales. */
const scaleTypes = new WeakMap<ResourceType, ResourceType>();
export function scaleTypeOf(type: ResourceType): ResourceType {
  const known = scaleTypes.get(type);
  const made: ResourceType = known ?? {
    ...plainType,
    group: "autoscaling",
    kind: "Scale",
    listKind: "ScaleList",
    schema: scaleSchema,
    resource: type.resource,
    singular: "scale",
    bucket: type.bucket,
    namespaced: type.namespaced,
  };
  scaleTypes.set(type, made);
  return made;
}

const keysOf = (path: string): string[] => path.replace(/^\./, "").split(".");
const numberAt = (object: JsonObject, path: string): number | undefined => {
  const found = field(object, ...keysOf(path));
  return typeof found === "number" ? found : undefined;
};

const pathsOf = (type: ResourceType): ScalePaths => {
  if (!type.scale) throw status.noSuchResource();
  return type.scale;
};

/** The Scale of an object. */
export function scaleOf(type: ResourceType, object: KubeObject): KubeObject {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = pathsOf(type);
  const selector = type.custom
    ? labelSelectorPath === ""
      ? undefined
      : textAt(object, ...keysOf(labelSelectorPath))
    : selectorText(field(object, "spec", "selector"));
  const kept = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
  const others = Object.keys(object.metadata).filter((key) => !kept.includes(key));
  const asked = numberAt(object, specReplicasPath);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: omit(object.metadata, ...others),
    // What is zero is left out of what is asked for, not of what is there.
    spec: asked ? { replicas: asked } : {},
    status: withField(
      { replicas: numberAt(object, statusReplicasPath) ?? 0 },
      "selector",
      selector || undefined,
    ),
  };
}

/** GET. Throws 500, as Kubernetes does, for a custom resource without replicas. */
export function readScale(type: ResourceType, object: KubeObject): KubeObject {
  const { specReplicasPath } = pathsOf(type);
  if (type.custom && numberAt(object, specReplicasPath) === undefined)
    throw status.internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`);
  return scaleOf(type, object);
}

function withValueAt(object: JsonObject, [key = "", ...rest]: readonly string[], value: Json): JsonObject {
  return { ...object, [key]: rest.length === 0 ? value : withValueAt(objectAt(object, key), rest, value) };
}

const inScale: FieldSet = setOf([["f:spec", "f:replicas"]]);
const has = (set: FieldSet, path: FieldSet): boolean => isEmptySet(difference(path, set));

/** The parent's owners of its replicas, as owners of the Scale's. */
const ownersInScale = (owners: Owners, path: FieldSet): Owners =>
  new Map(
    [...owners.values()]
      .filter(({ fields }) => has(fields, path))
      .map((one): Ownership => ({ ...one, apiVersion: "autoscaling/v1", fields: inScale }))
      .map((one) => [idOf(one), one]),
  );

/**
 * Back to the parent's owners, as apimachinery's ScaleHandler does: whoever owned the replicas and is not found by the
 * same identifier loses them (an updater never is, since its identifier carries a version); entries that come from
 * the Scale have no time.
 */
function ownersInParent(owners: Owners, scaled: Owners, path: FieldSet, apiVersion: string): Owners {
  const parent = new Map<string, Ownership>();
  const left = new Map(scaled);
  for (const [id, owner] of owners) {
    const rest = difference(owner.fields, path);
    if (!has(owner.fields, path) || left.delete(id)) parent.set(id, owner);
    else if (!isEmptySet(rest)) parent.set(id, { ...owner, fields: rest });
  }
  for (const [id, owner] of left)
    if (has(owner.fields, inScale)) parent.set(id, { ...owner, apiVersion, fields: path, time: undefined });
  return parent;
}

/** How a request changes a Scale: by what its body makes of it, or by applying its body. */
export type ScaleChange =
  | { readonly kind: "update" | "patch"; readonly body: (scale: KubeObject) => Json }
  | { readonly kind: "apply"; readonly body: Json; readonly force: boolean };

/** No replicas are no field, as in Go. */
const withoutZero = (scale: KubeObject): KubeObject =>
  numberAt(scale, ".spec.replicas") === 0 ? { ...scale, spec: {} } : scale;

function changed(
  occasion: Occasion,
  type: ResourceType,
  scale: KubeObject,
  owners: Owners,
  change: ScaleChange & Telling & { readonly custom: boolean },
): { next: KubeObject; owners: Owners } {
  if (change.kind !== "apply") {
    const body = change.body(scale);
    const read = (): KubeObject => decoded(type, body, []);
    const next = withoutZero(
      change.kind === "patch" && isObject(body) ? refusing(type, body, change, read) : read(),
    );
    return { next, owners: owners.size > 0 ? ownersAfterUpdate(occasion, scale, next, owners) : owners };
  }
  const config = configuration(occasion, "Scale", change.body);
  const empty = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: {}, spec: {}, status: {} };
  const failed = (what: string): Error =>
    status.serverError(
      `failed to ${what}, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`,
    );
  // A fault of the API server itself: it does not get from a custom resource to its Scale and back when applying.
  if (change.custom && owners.size === 0)
    throw failed("create manager for existing fields: failed to convert live object (/; autoscaling/v1");
  const { object, owners: after } = applied(occasion, scale, config, owners, empty, change.force);
  if (change.custom && object)
    throw failed(`convert new object (${keyOf(namespaceOf(scale), nameOf(scale))}; autoscaling/v1`);
  return { next: decoded(type, object ?? scale, []), owners: after };
}

const unset = -(2 ** 31);

/**
 * The object with the replicas, and the owners, that a change of its Scale leaves. It carries the resourceVersion that
 * the change asks for. Throws 400, 409 or 422.
 */
export function scaled(
  cluster: Cluster,
  type: ResourceType,
  old: KubeObject,
  change: ScaleChange,
  { manager, fieldValidation, warn }: Telling & { readonly manager: string },
): { object: KubeObject; owners: Owners } {
  const { specReplicasPath } = pathsOf(type);
  const path = setOf([keysOf(specReplicasPath).map((key) => `f:${key}`)]);
  const scaleType = scaleTypeOf(type);
  const missing = type.custom && numberAt(old, specReplicasPath) === undefined;
  const shown = scaleOf(type, old);
  const before = missing ? { ...shown, spec: { replicas: unset } } : shown;
  const known = ownersInScale(ownersOf(old), path);
  const occasion: Occasion = {
    ...occasionFor(cluster, { type: scaleType, subresource: "scale" }, manager),
    ignored: noFields,
    isServed: () => true,
  };
  const { next, owners } = changed(occasion, scaleType, before, known, {
    ...change,
    fieldValidation,
    warn,
    custom: type.custom,
  });
  const wanted = numberAt(next, ".spec.replicas") ?? 0;
  refuse(type, old, next, wanted, specReplicasPath);
  const object = withMeta(
    { ...old, ...withValueAt(old, keysOf(specReplicasPath), wanted) },
    "resourceVersion",
    versionOf(next) || undefined,
  );
  const parent = ownersInParent(
    ownersOf(old),
    owners,
    path,
    occasionFor(cluster, { type, subresource: "" }, manager).apiVersion,
  );
  return { object: withOwners(object, parent), owners: parent };
}

function refuse(type: ResourceType, old: KubeObject, next: KubeObject, wanted: number, path: string): void {
  if (wanted === unset)
    throw status.badRequest(`the spec replicas field ${JSON.stringify(path)} cannot be empty`);
  const negative = invalid("spec.replicas", wanted, "must be greater than or equal to 0");
  if (wanted < 0 && !type.custom)
    throw status.invalidObject({ group: "autoscaling", kind: "Scale" }, nameOf(old), [negative]);
  const [given, uid] = [uidOf(next), uidOf(old)];
  if (given === "" || given === uid) return;
  const key = [
    "/registry",
    ...(type.custom ? [type.group] : []),
    type.resource,
    keyOf(namespaceOf(old), nameOf(old)),
  ];
  const why = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${uid}`;
  const told = `StorageError: invalid object, Code: 4, Key: ${key.join("/")}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  throw status.conflict(type, nameOf(old), told);
}

/** A custom resource with a scale has no negative counts. */
const largest = 2 ** 31 - 1;

/** What keeps a number of replicas from being one; Go tells a value that is no integer by its type in Go. */
function countErrors(object: JsonObject, path: string): FieldError[] {
  const found = foundAt(object, path);
  if (typeof found === "string") return [invalid(path, 0, found)];
  const count = found.value;
  if (count === undefined) return [];
  if (typeof count !== "number" || !Number.isInteger(count))
    return [invalid(path, 0, notOfType(path, count, "int64"))];
  return [
    ...when(count < 0, invalid(path, count, "should be a non-negative integer")),
    ...when(count > largest, invalid(path, count, `should be less than or equal to ${largest}`)),
  ];
}

function selectorErrors(object: JsonObject, path: string): FieldError[] {
  if (path === "") return [];
  const found = foundAt(object, path);
  if (typeof found === "string") return [invalid(path, "", found)];
  const { value = "" } = found;
  return when(typeof value !== "string", invalid(path, "", notOfType(path, value, "string")));
}

const accessing = (keys: readonly string[]): string => `.${keys.join(".")} accessor error`;
const notOfType = (path: string, value: Json, wanted: string): string =>
  `${accessing(keysOf(path))}: ${goValue(value)} is of the type ${goType(value)}, expected ${wanted}`;
/** What stands at a path, or why the path leads nowhere. */
function foundAt(object: JsonObject, path: string): { readonly value: Json | undefined } | string {
  let at: Json | undefined = object;
  const keys = keysOf(path);
  for (const [i, key] of keys.entries()) {
    if (at === undefined || at === null) return { value: undefined };
    if (!isObject(at))
      return `${accessing(keys.slice(0, i + 1))}: ${goValue(at)} is of the type ${goType(at)}, expected map[string]interface{}`;
    at = field(at, key);
  }
  return { value: at };
}

/** What a kind with a scale asks of its objects: of a status that is written alone, only what is in the status. */
export const scaledBehaviour = (paths: ScalePaths | undefined): Behaviour =>
  paths
    ? {
        errors: (object, _, subresource) => [
          ...(subresource === "status" ? [] : countErrors(object, paths.specReplicasPath)),
          ...countErrors(object, paths.statusReplicasPath),
          ...selectorErrors(object, paths.labelSelectorPath),
        ],
      }
    : {};
