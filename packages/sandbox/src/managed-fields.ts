// Who owns which fields of an object: metadata.managedFields, kept as apimachinery's util/managedfields does.
// Caveat: entries of another version of the kind are compared by the schema of the version in use, and a list or map
// whose type changed in a definition keeps the sets that were written before.
import { difference, intersection, isEmptySet, noFields, setOf, union, withoutTrees } from "./field-sets.ts";
import type { FieldSet } from "./field-sets.ts";
import { equal, isObject, listAt, omit, present, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { MergeSchema } from "./merge-schema.ts";
import { compared } from "./structured-compare.ts";
import type { Comparison } from "./structured-compare.ts";

/** A manager and what it owns. */
export interface Ownership {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}
/** By their identifier. */
export type Owners = ReadonlyMap<string, Ownership>;

/** What one request is to the owners of an object. */
export interface Occasion {
  readonly schema: MergeSchema;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly manager: string;
  readonly now: string;
  /** Fields that this endpoint leaves alone: nobody comes to own them by it. */
  readonly ignored: FieldSet;
  /** Whether a version of the kind is served; what is owned in another is forgotten. */
  readonly isServed: (apiVersion: string) => boolean;
}

/** Identifies a manager; sorts as apimachinery's identifiers do. */
export const idOf = ({ manager, operation, apiVersion, subresource }: Omit<Ownership, "time" | "fields">) =>
  JSON.stringify(
    present({
      manager: manager || undefined,
      operation,
      apiVersion: operation === "Apply" ? undefined : apiVersion,
      subresource: subresource || undefined,
    }),
  );

const byId = (owners: readonly Ownership[]): Owners => new Map(owners.map((one) => [idOf(one), one]));

/** The entries as they are in metadata, or undefined when one of them is none. */
export function ownersIn(metadata: JsonObject): Owners | undefined {
  const owners: Ownership[] = [];
  for (const entry of listAt(metadata, "managedFields")) {
    const text = (key: string): string => textAt(entry, key) ?? "";
    const [operation, fields] = [text("operation"), isObject(entry) ? entry["fieldsV1"] : undefined];
    if (operation !== "Apply" && operation !== "Update") return undefined;
    if (text("apiVersion") === "" || text("fieldsType") !== "FieldsV1") return undefined;
    const [manager, apiVersion] = [text("manager"), text("apiVersion")];
    owners.push({
      manager,
      operation,
      apiVersion,
      subresource: text("subresource"),
      time: textAt(entry, "time"),
      fields: isObject(fields) ? fields : noFields,
    });
  }
  return byId(owners);
}

const orderOf = (one: Ownership): string =>
  [one.operation, one.time ?? "", one.manager, one.apiVersion, one.subresource].join("\0");

/** The entries for metadata, or undefined without any: in the order of Kubernetes, appliers first. */
export function entriesOf(owners: Owners): JsonObject[] | undefined {
  if (owners.size === 0) return undefined;
  const sorted = [...owners.values()].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  return sorted.map(({ manager, operation, apiVersion, subresource, time, fields }) =>
    present({
      manager: manager || undefined,
      operation,
      apiVersion,
      time,
      fieldsType: "FieldsV1",
      fieldsV1: fields,
      subresource: subresource || undefined,
    }),
  );
}

/** Whether somebody asks for the owners to be forgotten: an empty list, or one of an empty entry. */
export const isReset = (managedFields: Json | undefined): boolean =>
  equal(managedFields, []) || equal(managedFields, [{}]);

/** Not owned by anybody. */
const stripped = setOf([
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    ...["name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation"],
    ...["managedFields", "resourceVersion"],
  ].map((key) => ["f:metadata", `f:${key}`]),
]);

/** Fields of owners that a change takes from them. */
export type Taken = ReadonlyMap<string, FieldSet>;

/** What everybody but `self` loses by a change, and whom of them it contradicts. */
export function afterChange(
  owners: Owners,
  self: string,
  { added, modified, removed }: Comparison,
  isServed: (apiVersion: string) => boolean,
): { left: Owners; conflicts: Taken } {
  const changed = union(modified, added);
  const left = new Map<string, Ownership>();
  const conflicts = new Map<string, FieldSet>();
  for (const [id, owner] of owners) {
    if (id === self) left.set(id, owner);
    if (id === self || !isServed(owner.apiVersion)) continue;
    const contested = intersection(owner.fields, changed);
    if (!isEmptySet(contested)) conflicts.set(id, contested);
    const fields = difference(difference(owner.fields, contested), removed);
    if (!isEmptySet(fields)) left.set(id, { ...owner, fields });
  }
  return { left, conflicts };
}

export function comparedFor({ schema, ignored }: Occasion, live: Json, next: Json): Comparison {
  const { added, modified, removed } = compared(schema, live, next);
  return {
    added: withoutTrees(added, ignored),
    modified: withoutTrees(modified, ignored),
    removed: withoutTrees(removed, ignored),
  };
}

const withoutManaged = (object: JsonObject): JsonObject => {
  const { metadata } = object;
  return isObject(metadata) ? { ...object, metadata: omit(metadata, "managedFields") } : object;
};

/** The owners with one more set of fields for a manager, without those that nobody can own. */
export function withOwner(owners: Owners, owner: Ownership): Owners {
  const fields = difference(owner.fields, stripped);
  const next = new Map(owners);
  if (isEmptySet(fields)) next.delete(idOf(owner));
  else next.set(idOf(owner), { ...owner, fields });
  return next;
}

/** Who owns what after a create, an update or a patch made `next` of `live` (for a create: what is there by itself). */
export function ownersAfterUpdate(
  occasion: Occasion,
  live: JsonObject,
  next: JsonObject,
  owners: Owners,
): Owners {
  const { manager, apiVersion, subresource, now, isServed, ignored } = occasion;
  const self: Ownership = {
    manager: manager || "unknown",
    operation: "Update",
    apiVersion,
    subresource,
    time: now,
    fields: noFields,
  };
  const comparison = comparedFor(occasion, withoutManaged(live), withoutManaged(next));
  // Not as itself: also what it owned before is taken from it, so that one entry says what changed now.
  const { left } = afterChange(owners, "", comparison, isServed);
  const changed = withoutTrees(union(comparison.modified, comparison.added), ignored);
  if (isEmptySet(difference(changed, stripped))) return capped(left);
  const before = left.get(idOf(self))?.fields ?? noFields;
  return capped(withOwner(left, { ...self, fields: union(changed, before) }));
}

const mostUpdaters = 10;
const secondsOf = ({ time }: Ownership): number => (time === undefined ? 0 : Date.parse(time) / 1000);

/** Beyond ten of them, the oldest updaters of a version become one, called ancient-changes. */
function capped(owners: Owners): Owners {
  const updaters = [...owners]
    .filter(([, { operation }]) => operation === "Update")
    .sort(([a, x], [b, y]) => secondsOf(x) - secondsOf(y) || (a < b ? -1 : 1));
  const next = new Map(owners);
  const first = new Map<string, string>();
  let count = updaters.length;
  for (const [id, updater] of updaters) {
    if (count <= mostUpdaters) break;
    const { apiVersion, time, fields } = updater;
    const oldest = first.get(apiVersion);
    if (oldest === undefined) {
      first.set(apiVersion, id);
      continue;
    }
    const ancient = { ...updater, manager: "ancient-changes", subresource: "" };
    const kept = next.get(idOf(ancient)) ?? next.get(oldest);
    next.delete(oldest);
    next.delete(id);
    next.set(idOf(ancient), { ...ancient, time, fields: union(fields, kept?.fields ?? noFields) });
    count -= 1;
  }
  return next;
}
