// The entries of metadata.managedFields: each is a manager with its operation, and the fields that it owns
// (apimachinery, managedfields/internal/managedfields.go).
import { isObject, listAt, objectAt, present, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { fieldSetOf, fieldsV1Of } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";

/** A manager that owns fields by one operation, version and subresource. */
export interface FieldOwner {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** "" for none. */
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Owners by `ownerKey`. */
export type FieldOwners = ReadonlyMap<string, FieldOwner>;

/** The identity of an owner, in the order of which errors list owners. All versions that a manager applies are one. */
export const ownerKey = (owner: Omit<FieldOwner, "time" | "fields">): string => {
  const { manager, operation, apiVersion, subresource } = owner;
  const version = operation === "Update" && { apiVersion };
  return JSON.stringify({ manager, operation, ...version, ...(subresource !== "" && { subresource }) });
};

function ownerOf(entry: Json): FieldOwner {
  const [operation, apiVersion] = [textAt(entry, "operation"), textAt(entry, "apiVersion") ?? ""];
  if (operation !== "Apply" && operation !== "Update") throw new SyntaxError("no operation");
  if (apiVersion === "" || textAt(entry, "fieldsType") !== "FieldsV1")
    throw new SyntaxError("no version or type");
  return {
    manager: textAt(entry, "manager") ?? "",
    operation,
    apiVersion,
    subresource: textAt(entry, "subresource") ?? "",
    time: textAt(entry, "time"),
    fields: fieldSetOf(objectAt(entry, "fieldsV1")),
  };
}

/** The owners in managedFields; none if an entry is invalid. */
export function ownersIn(object: JsonObject | undefined): FieldOwners {
  try {
    const owners = listAt(object, "metadata", "managedFields").map(ownerOf);
    return new Map(owners.map((owner) => [ownerKey(owner), owner]));
  } catch (error) {
    if (error instanceof SyntaxError) return new Map();
    throw error;
  }
}

/** True if managedFields are the one empty entry by which a client removes all of them. */
export function isReset(object: JsonObject): boolean {
  const [entry, ...others] = listAt(object, "metadata", "managedFields");
  return isObject(entry) && Object.keys(entry).length === 0 && others.length === 0;
}

const orderOf = ({
  operation,
  time = "",
  manager,
  apiVersion,
  subresource,
}: FieldOwner): readonly string[] => [operation, time, manager, apiVersion, subresource];
function byOrder(a: FieldOwner, b: FieldOwner): number {
  const [left, right] = [orderOf(a), orderOf(b)];
  const i = left.findIndex((one, at) => one !== right[at]);
  return i < 0 ? 0 : (left[i] ?? "") < (right[i] ?? "") ? -1 : 1;
}

/** The value of managedFields; undefined if there are no owners. */
export function managedFieldsOf(owners: FieldOwners): Json | undefined {
  if (owners.size === 0) return undefined;
  return [...owners.values()].sort(byOrder).map(({ fields, subresource, ...owner }) =>
    present({
      ...owner,
      fieldsType: "FieldsV1",
      fieldsV1: fieldsV1Of(fields),
      subresource: subresource || undefined,
    }),
  );
}

const mostUpdaters = 10;

/** The owners with at most ten updaters: older ones are merged, by version, into `ancient-changes`. */
export function capped(owners: FieldOwners): FieldOwners {
  const updaters = [...owners].filter(([, { operation }]) => operation === "Update");
  const left = new Map(owners);
  const firsts = new Map<string, string>();
  updaters.sort(([a, x], [b, y]) =>
    x.time === y.time ? (a < b ? -1 : 1) : (x.time ?? "") < (y.time ?? "") ? -1 : 1,
  );
  let count = updaters.length;
  for (const [key, owner] of updaters) {
    if (count <= mostUpdaters) break;
    const first = firsts.get(owner.apiVersion);
    if (first === undefined) {
      firsts.set(owner.apiVersion, key);
      continue;
    }
    const bucket = { ...owner, manager: "ancient-changes", subresource: "" };
    const name = ownerKey(bucket);
    const older = left.get(name) ?? left.get(first);
    if (!left.has(name)) left.delete(first);
    left.delete(key);
    left.set(name, { ...bucket, fields: owner.fields.union(older?.fields ?? new Set()) });
    count -= 1;
  }
  return left;
}
