// Server-side apply: the manager of the request owns the fields of its configuration. Fields that it applied before and
// no longer names are removed, unless they have another owner (structured-merge-diff, merge/update.go, Apply).
import { timestamp } from "../admission/admission.ts";
import { comparePaths, shownPath } from "../fields/field-set.ts";
import type { FieldSet } from "../fields/field-set.ts";
import type { FieldType } from "../fields/field-type.ts";
import { mergeFields } from "../fields/merge-fields.ts";
import { fieldsOf, withoutFields, withStructs } from "../fields/owned-fields.ts";
import { ownable, takeFields, servedVersion } from "../fields/ownership.ts";
import type { Writing } from "../fields/ownership.ts";
import { managedFieldsOf, ownerKey, ownersIn } from "../fields/owners.ts";
import type { FieldOwner, FieldOwners } from "../fields/owners.ts";
import { shownErrors, typeErrors } from "../fields/type-errors.ts";
import { applyConflict, badRequest, internalError, serverError } from "../http/status.ts";
import { equal, field, isArray, isObject, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { nameOf, namespaceOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { apiVersionOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import type { Cluster } from "../storage/cluster.ts";
import { emptyObject, updatedOwners } from "./managed-fields.ts";

/** The configuration in the body of an apply. Throws 400 if it is of another kind, and 500 if it does not fit its kind. */
export function configurationIn(type: ResourceType, body: Json): JsonObject {
  const config = body ?? {};
  if (!isObject(config))
    throw badRequest("error decoding YAML: error unmarshaling JSON: json: cannot unmarshal it into a map");
  const [apiVersion, kind] = [textAt(config, "apiVersion") ?? "", textAt(config, "kind") ?? ""];
  const shownKind = `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
  if (apiVersion !== apiVersionOf(type) || kind !== type.kind)
    throw badRequest(`invalid object type: ${shownKind}`);
  if (isArray(field(config, "metadata", "managedFields")))
    throw badRequest("metadata.managedFields must be nil");
  const what = `${namespaceOf(config)}/${nameOf(config)}; ${shownKind}`;
  refuseErrors(`failed to create typed patch object (${what})`, typeErrors(type, config));
  return config;
}

function refuseErrors(what: string, errors: readonly string[]): void {
  if (errors.length > 0) throw serverError(`${what}: ${shownErrors(errors)}`);
}

export interface Applied {
  readonly object: Json;
  /** The managedFields of the object. */
  readonly managers: Json | undefined;
}

/**
 * The object after an apply; `live` is undefined for a new object. Throws 409 if another owner has a field with another
 * value, unless the apply may take it.
 */
export function applied(
  cluster: Cluster,
  writing: Writing,
  config: JsonObject,
  live: KubeObject | undefined,
  mayTake: FieldSet | "all",
): Applied {
  const { type, subresource, manager } = writing;
  const version = servedVersion(cluster, writing);
  if (!version) throw internalError(`${apiVersionOf(type)} is not served`);
  const before = live ?? emptyObject(type);
  const own = { manager, operation: "Apply", apiVersion: apiVersionOf(type), subresource } as const;
  const key = ownerKey(own);
  const known = knownOwners(cluster, writing, before);
  const last = known.get(key);
  const fields = version.written(fieldsOf(config, version.fields));
  const owners = new Map([...known, [key, { ...own, time: last?.time, fields }] as const]);
  const merged = mergeFields(before, config, version.fields);
  const { next, object } = last
    ? pruned(cluster, writing, merged, owners, last)
    : { next: merged, object: merged };
  for (const { apiVersion } of known.values())
    refuseUnfit("failed to convert new object", servedVersion(cluster, writing, apiVersion)?.kind, next);
  const taken = takeFields(cluster, writing, before, next, owners, key);
  if (mayTake !== "all") refuseConflicts(owners, taken.conflicts, mayTake);
  const after = new Map(taken.owners);
  const owner = after.get(key);
  const owned = ownable(owner?.fields ?? new Set());
  const time = equal(before, next) ? last?.time : timestamp(cluster.now());
  if (owned.size === 0) after.delete(key);
  else after.set(key, { ...own, time, fields: owned });
  return { object, managers: managedFieldsOf(after) };
}

/** The owners of an object. All fields of an object without owners belong to `before-first-apply`. */
function knownOwners(cluster: Cluster, writing: Writing, live: KubeObject): FieldOwners {
  const owners = ownersIn(live);
  if (owners.size > 0) return owners;
  const first = { ...writing, manager: "before-first-apply" };
  return updatedOwners(cluster, first, live, emptyObject(writing.type), owners);
}

/** Throws 500 if a version of a custom resource lacks a field of the object. */
function refuseUnfit(what: string, kind: ResourceType | undefined, object: Json): void {
  if (kind?.custom && isObject(object)) refuseErrors(what, typeErrors(kind, object, true));
}

interface Pruned {
  /** The object to compare. A map or list of which nothing is left is null in it, so its owners keep it. */
  readonly next: Json;
  readonly object: Json;
}

/** The merged object without the fields that only the manager applied before, and names no more. */
function pruned(
  cluster: Cluster,
  writing: Writing,
  merged: Json,
  owners: FieldOwners,
  last: FieldOwner,
): Pruned {
  const { fields: type, kind } = servedVersion(cluster, writing, last.apiVersion) ?? {};
  if (!type) return { next: merged, object: merged };
  const what = "failed to prune fields: failed to convert merged object to last applied version";
  if (last.apiVersion !== apiVersionOf(writing.type)) refuseUnfit(what, kind, merged);
  const allFields = (value: Json, of: FieldType): FieldSet => withStructs(fieldsOf(value, of), of);
  const old = withStructs(last.fields, type);
  const versions = Map.groupBy(owners.values(), ({ apiVersion }) => apiVersion);
  const inOrder = [...new Set([last.apiVersion, ...versions.keys()])];
  const kept = inOrder.reduce<Json>(
    (left, apiVersion) => {
      const of = servedVersion(cluster, writing, apiVersion)?.fields;
      if (!of) return left;
      const sets = (versions.get(apiVersion) ?? []).map(({ fields }) => fields);
      const owned = sets.reduce<FieldSet>((all, one) => all.union(one), new Set());
      const stays = allFields(left, of).union(withStructs(owned, of));
      return withoutFields(merged, of, allFields(merged, of).difference(stays));
    },
    withoutFields(merged, type, old),
  );
  const fields = allFields(merged, type).difference(allFields(kept, type)).intersection(old);
  return { next: withoutFields(merged, type, fields), object: withoutFields(merged, type, fields, true) };
}

function shownOwner({ manager, subresource, operation, apiVersion }: FieldOwner): string {
  const part = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${part}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}

/** Throws 409 for the conflicts about other fields. */
function refuseConflicts(
  owners: FieldOwners,
  conflicts: ReadonlyMap<string, FieldSet>,
  mayTake: FieldSet,
): void {
  const sorted = [...conflicts].sort(([a], [b]) => (a < b ? -1 : 1));
  const found = sorted.flatMap(([key, fields]) => {
    const [owner, left] = [owners.get(key), [...fields.difference(mayTake)]];
    return owner && left.length > 0
      ? [{ owner: shownOwner(owner), paths: left.sort(comparePaths).map(shownPath) }]
      : [];
  });
  const causes = found.flatMap(({ owner, paths }) =>
    paths.map((path) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${owner}`,
      field: path,
    })),
  );
  const lines = found.flatMap(({ owner, paths }) => [
    `conflicts with ${owner}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  const [first] = causes;
  if (!first) return;
  throw causes.length === 1
    ? applyConflict(causes, `Apply failed with 1 conflict: ${first.message}: ${first.field}`)
    : applyConflict(causes, `Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`);
}
