// The owners of fields after a write: a changed field leaves its owners, and a removed one has none
// (structured-merge-diff, merge/update.go).
import type { Cluster } from "../storage/cluster.ts";
import type { Json } from "../json.ts";
import { apiVersionOf } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { compareFields } from "./compare-fields.ts";
import type { Comparison } from "./compare-fields.ts";
import { fieldPath, withoutTrees } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";
import { fieldTypeOf } from "./field-type.ts";
import type { FieldType } from "./field-type.ts";
import type { FieldOwners } from "./owners.ts";

/** A write: of this kind, through this subresource ("" for none), by this manager. */
export interface Writing {
  readonly type: ResourceType;
  readonly subresource: string;
  readonly manager: string;
}

/** A version of the kind of a write. */
export interface Version {
  readonly kind: ResourceType;
  readonly fields: FieldType;
  /** The set without the fields that the write does not change. */
  readonly written: (fields: FieldSet) => FieldSet;
}

const alsoKept: ReadonlyMap<string, readonly string[]> = new Map([
  ["deployments", [fieldPath("metadata", "labels")]],
  ["pods", [fieldPath("metadata", "deletionTimestamp"), fieldPath("metadata", "ownerReferences")]],
]);
/** The fields that a write does not change: the status, or all others. */
function keptBy({ type, subresource }: Writing): readonly string[] {
  if (subresource === "") return type.status ? [fieldPath("status")] : [];
  const kept = type.custom ? [fieldPath("metadata")] : (alsoKept.get(type.resource) ?? []);
  return [fieldPath("spec"), ...kept];
}

/**
 * A served version of the kind of a write, by default its own; undefined if it is not served. The two groups of Events
 * are not versions of each other.
 */
export function servedVersion(
  cluster: Cluster,
  writing: Writing,
  apiVersion = apiVersionOf(writing.type),
): Version | undefined {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const isOwn = apiVersion === apiVersionOf(writing.type);
  const type = isOwn ? writing.type : cluster.typeOf(group, version, writing.type.resource);
  if (!type || (!isOwn && !type.custom)) return undefined;
  // As in the real server, which leaves out the status of the main resource in its own version only.
  const kept = isOwn || writing.subresource !== "" ? keptBy(writing) : [];
  return {
    kind: type,
    fields: fieldTypeOf(type),
    written: (fields) => withoutTrees(fields, kept),
  };
}

export interface Taken {
  /** The fields that other owners have and the write changes. */
  readonly conflicts: ReadonlyMap<string, FieldSet>;
  /** The owners after the write. */
  readonly owners: FieldOwners;
}

/** Compares the objects before and after a write, in a version. */
export function changesIn({ fields, written }: Version, live: Json, next: Json): Comparison {
  const { added, changed, removed } = compareFields(live, next, fields);
  return { added: written(added), changed: written(changed), removed: written(removed) };
}

/** Takes the fields that a write changes from all owners but `self`. Owners in versions that are not served go. */
export function takeFields(
  cluster: Cluster,
  writing: Writing,
  live: Json,
  next: Json,
  owners: FieldOwners,
  self?: string,
): Taken {
  const conflicts = new Map<string, FieldSet>();
  const left = new Map(owners);
  const changes = new Map<string, Comparison | undefined>();
  for (const [key, owner] of owners) {
    const { apiVersion, fields } = owner;
    if (key === self) continue;
    if (!changes.has(apiVersion)) {
      const version = servedVersion(cluster, writing, apiVersion);
      changes.set(apiVersion, version && changesIn(version, live, next));
    }
    const change = changes.get(apiVersion);
    const taken = change ? fields.intersection(change.changed.union(change.added)) : fields;
    if (change && taken.size > 0) conflicts.set(key, taken);
    const kept = fields.difference(taken).difference(change?.removed ?? new Set());
    if (kept.size > 0) left.set(key, { ...owner, fields: kept });
    else left.delete(key);
  }
  if (self !== undefined && left.get(self)?.fields.size === 0) left.delete(self);
  return { conflicts, owners: left };
}

const unowned: FieldSet = new Set([
  ...["apiVersion", "kind", "metadata"].map((key) => fieldPath(key)),
  ..."name namespace creationTimestamp selfLink uid clusterName generation managedFields resourceVersion"
    .split(" ")
    .map((key) => fieldPath("metadata", key)),
]);
/** The set without the fields that have no owner. */
export const ownable = (fields: FieldSet): FieldSet => fields.difference(unowned);
