// metadata.managedFields: the manager that set a field last, and the time. Server-side apply, which the sandbox does
// not have, needs more: here, a list is one field.
import { timestamp } from "../admission/admission.ts";
import type { Cluster } from "../storage/cluster.ts";
import { equal, isObject, listAt, objectAt, omit, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { apiVersionOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";

/** A write: of this kind, through this subresource ("" for none), by this manager. */
export interface Writing {
  readonly type: ResourceType;
  readonly subresource: string;
  readonly manager: string;
}

/** The manager of a request: its query names it, or else its user agent does, up to the first slash. */
export const managerOf = (query: URLSearchParams, userAgent: string): string =>
  query.get("fieldManager") || userAgent.split("/")[0] || "unknown";

/** Fields of metadata that no manager owns. */
const unowned = [
  ...["creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion"],
  ...["selfLink", "uid"],
];

const isMap = (value: Json): value is JsonObject => isObject(value) && Object.keys(value).length > 0;

/** Joins the names of a path, such as `f:spec` and `f:size`. */
const separator = "\0";

function fieldsIn(value: Json, path: readonly string[] = []): [string, Json][] {
  if (!isMap(value)) return [[path.join(separator), value]];
  return Object.entries(value).flatMap(([key, inner]) => fieldsIn(inner, [...path, `f:${key}`]));
}

/** The values of the fields that a manager can own, by path. */
function fieldsOf(object: KubeObject): ReadonlyMap<string, Json> {
  const content = omit(object, "apiVersion", "kind", "metadata");
  const metadata = omit(object.metadata, ...unowned);
  return new Map(fieldsIn(isMap(metadata) ? { ...content, metadata } : content));
}

function pathsIn(fieldsV1: JsonObject, above: readonly string[] = []): string[] {
  return Object.entries(fieldsV1).flatMap(([name, inner]) =>
    isMap(inner) ? pathsIn(inner, [...above, name]) : [[...above, name].join(separator)],
  );
}

/** Paths as an entry has them: `{"f:spec":{"f:size":{}}}`. */
function fieldsV1Of(paths: readonly (readonly string[])[]): JsonObject {
  const byName = Map.groupBy(paths, ([name = ""]) => name);
  return Object.fromEntries(
    [...byName].map(([name, same]) => {
      const below = same.map((path) => path.slice(1)).filter((path) => path.length > 0);
      return [name, fieldsV1Of(below)];
    }),
  );
}

const withPaths = (entry: JsonObject, paths: readonly string[]): JsonObject[] =>
  paths.length === 0 ? [] : [{ ...entry, fieldsV1: fieldsV1Of(paths.map((path) => path.split(separator))) }];

/** The object after a write, with an entry for each manager of its fields; `live` is the object before the write. */
export function withManagers(
  { now }: Cluster,
  { type, subresource, manager }: Writing,
  next: KubeObject,
  live: KubeObject | undefined,
): KubeObject {
  const [before, after] = [live ? fieldsOf(live) : new Map<string, Json>(), fieldsOf(next)];
  // A write of the status changes no other field, and other writes do not change the status.
  const isWritten = (path: string): boolean =>
    !type.status || (path.split(separator)[0] === "f:status") === (subresource === "status");
  const changed = [...after].flatMap(([path, value]) =>
    isWritten(path) && !equal(before.get(path), value) ? [path] : [],
  );
  const gone = [...before.keys()].filter((path) => isWritten(path) && !after.has(path));
  const lost = new Set([...changed, ...gone]);
  const own = { manager, apiVersion: apiVersionOf(type), subresource };
  const isOwn = (entry: Json): boolean =>
    Object.entries(own).every(([key, value]) => (textAt(entry, key) ?? "") === value);
  const keptBy = (entry: Json): string[] =>
    pathsIn(objectAt(entry, "fieldsV1")).filter((path) => !lost.has(path));
  const entries = listAt(live, "metadata", "managedFields").filter(isObject);
  const kept = entries
    .filter((entry) => changed.length === 0 || !isOwn(entry))
    .flatMap((entry) => withPaths(entry, keptBy(entry)));
  const mine = {
    manager,
    operation: "Update",
    apiVersion: own.apiVersion,
    time: timestamp(now()),
    fieldsType: "FieldsV1",
    ...(subresource !== "" && { subresource }),
  };
  const written = changed.length === 0 ? [] : [...entries.filter(isOwn).flatMap(keptBy), ...changed];
  const all = [...kept, ...withPaths(mine, written)];
  return withMeta(next, "managedFields", all.length > 0 ? all : undefined);
}
