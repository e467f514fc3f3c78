// metadata.managedFields after a create or an update: the manager of the request owns the fields that it changed
// (apimachinery, managedfields/internal).
import { timestamp } from "../admission/admission.ts";
import { changesIn, ownable, takeFields, servedVersion } from "../fields/ownership.ts";
import type { Writing } from "../fields/ownership.ts";
import { capped, isReset, managedFieldsOf, ownerKey, ownersIn } from "../fields/owners.ts";
import type { FieldOwner, FieldOwners } from "../fields/owners.ts";
import { typeErrors } from "../fields/type-errors.ts";
import { field, isObject, isTrueAt, objectAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { apiVersionOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import type { Cluster } from "../storage/cluster.ts";

/** The manager of a request: its query names it, or else its user agent does, up to the first slash. */
export const managerOf = (query: URLSearchParams, userAgent: string): string =>
  query.get("fieldManager") || userAgent.split("/")[0] || "unknown";

/** The fields that every object of a built-in kind has: in Go, structs without a pointer, and lists that may be null. */
const structsIn = (schema: Json | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(objectAt(schema, "properties")).flatMap(([key, of]): [string, Json][] => {
      const byDefault = field(of, "default");
      if (byDefault === null || isTrueAt(of, "x-nullable-list")) return [[key, null]];
      return isObject(byDefault) ? [[key, structsIn(of)]] : [];
    }),
  );

/** The object before its creation. */
export const emptyObject = (type: ResourceType): KubeObject => ({
  ...(type.custom ? {} : structsIn(type.schema)),
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  metadata: {},
});

/** The owners after an update of `live`, which had `owners`. */
export function updatedOwners(
  cluster: Cluster,
  writing: Writing,
  next: KubeObject,
  live: KubeObject,
  owners: FieldOwners,
): FieldOwners {
  const { type, subresource, manager } = writing;
  const version = servedVersion(cluster, writing);
  if (!version) return owners;
  const { added, changed } = changesIn(version, live, next);
  const taken = takeFields(cluster, writing, live, next, owners);
  const fields = ownable(added.union(changed));
  if (fields.size === 0) return capped(taken.owners);
  const own = { manager, operation: "Update", apiVersion: apiVersionOf(type), subresource } as const;
  const key = ownerKey(own);
  const all = fields.union(taken.owners.get(key)?.fields ?? new Set<string>());
  const owner: FieldOwner = { ...own, time: timestamp(cluster.now()), fields: all };
  return capped(new Map([...taken.owners, [key, owner]]));
}

/** False if an object does not fit the schema of its version, or of that of an owner: then nothing is tracked. */
const isComparable = (
  cluster: Cluster,
  writing: Writing,
  object: KubeObject,
  owners: FieldOwners,
): boolean => {
  const own = apiVersionOf(writing.type);
  const versions = new Set([own, ...[...owners.values()].map(({ apiVersion }) => apiVersion)]);
  return [...versions].every((apiVersion) => {
    const kind = servedVersion(cluster, writing, apiVersion)?.kind;
    return !kind?.custom || typeErrors(kind, object, apiVersion === own).length === 0;
  });
};

/**
 * The managedFields after a write; `live` is the object before it, and `next` is the object that the request asks for,
 * before the server adds its own fields. An object without owners gets none by an update. Undefined if there are none.
 */
export function managersAfter(
  cluster: Cluster,
  writing: Writing,
  next: KubeObject,
  live: KubeObject | undefined,
): Json | undefined {
  const given: FieldOwners = writing.subresource === "" ? ownersIn(next) : new Map();
  const owners = given.size > 0 ? given : ownersIn(live);
  const isWithout = writing.subresource === "" && isReset(next);
  if (live && (isWithout || owners.size === 0)) return undefined;
  const before = live ?? emptyObject(writing.type);
  const objects = live ? [live, next] : [next];
  if (!objects.every((object) => isComparable(cluster, writing, object, owners))) return undefined;
  return managedFieldsOf(updatedOwners(cluster, writing, next, before, isWithout ? new Map() : owners));
}

/** The object with the managedFields after a write of all of it. */
export const withManagers = (
  cluster: Cluster,
  writing: Writing,
  next: KubeObject,
  live: KubeObject | undefined,
): KubeObject => withMeta(next, "managedFields", managersAfter(cluster, writing, next, live));
