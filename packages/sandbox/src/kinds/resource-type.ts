import type { FieldError } from "../admission/field-errors.ts";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../kube-object.ts";
import { defaulted, pruned, withoutEmpty, withoutNulls } from "../schema/schema-fitting.ts";

/** A column of `kubectl get`, as a CustomResourceDefinition declares it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: number;
}

/** One resource in one version, as it is served: built in, or made from a CustomResourceDefinition. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** The place of its objects in the store: the same for all versions of one resource. */
  readonly bucket: string;
  readonly custom: boolean;
  /** The structural schema of all fields but metadata. Fields that are not in it are pruned. */
  readonly schema: JsonObject;
  /** The schema of the stored version, if that is another one. Fields that are not in it are lost. */
  readonly storedSchema?: JsonObject;
  /** The stored version, if that is another one. */
  readonly storedVersion?: string;
  /** True if the status is a subresource: the main endpoint does not write it, and `/status` writes nothing else. */
  readonly status: boolean;
  /** True if metadata.generation counts the changes of the spec. */
  readonly generation: boolean;
  /** True if a PUT needs no resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** True if a DELETE is answered with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly nameRule: NameRule;
  /** Warnings for each request: that the version is deprecated. */
  readonly warnings: readonly string[];
  /** The columns after NAME. */
  readonly columns: readonly Column[];
  /** Fields, besides metadata.name and metadata.namespace, that a field selector may ask for. */
  readonly selectable: readonly string[];
  /** Field names that differ between this version and the stored one: [here, stored]. */
  readonly renames: readonly (readonly [string, string])[];
  /** The code of a kind for more than storage. */
  readonly behaviour: Behaviour;
}

/** The parts of a kind that need code. Each function is pure and optional. */
export interface Behaviour {
  /** Adds the defaults to an object that is to be created (`old` is undefined) or updated. */
  readonly completed?: (object: KubeObject, old: KubeObject | undefined) => KubeObject;
  /** Adds the fields that the server sets after that. */
  readonly admitted?: (object: KubeObject, old: KubeObject | undefined) => KubeObject;
  /** The errors that its schema does not cover. */
  readonly errors?: (
    object: KubeObject,
    old: KubeObject | undefined,
    subresource?: "" | "status",
  ) => FieldError[];
  /** Warnings for a write. */
  readonly warnings?: (object: KubeObject, old: KubeObject | undefined) => string[];
  /** The changes by the first deletion, besides the deletion timestamp. */
  readonly terminating?: (object: KubeObject, now: string) => KubeObject;
  /**
   * Adds a value that no other object of the kind has to an object that is to be created; `turn` grows with every
   * change.
   */
  readonly allotted?: (object: KubeObject, others: readonly KubeObject[], turn: number) => KubeObject;
  /** Deletion is graceful: returns the seconds until the object is gone; `asked` is the number in the request. */
  readonly gracePeriod?: (object: KubeObject, asked: number | undefined) => number;
  /** True if metadata.generation also counts the changes of annotations. */
  readonly countsAnnotations?: true;
  /** True if only the generic code checks the metadata of an update. */
  readonly leavesMetadata?: true;
  /** True if something other than metadata.finalizers holds a deleted object. */
  readonly held?: (object: KubeObject) => boolean;
}

export type NameRule = "subdomain" | "label" | "version" | "path";

export const ageColumn: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The values of a type that a row leaves out. */
export const plainType = {
  version: "v1",
  namespaced: true,
  shortNames: [],
  categories: [],
  custom: false,
  status: false,
  generation: false,
  unconditionalUpdate: false,
  returnsDeleted: false,
  nameRule: "subdomain",
  columns: [ageColumn],
  warnings: [],
  selectable: [],
  renames: [],
  behaviour: {},
} satisfies Partial<ResourceType>;

/** Versions as clients prefer them: stable before beta before alpha, newer first. */
export function rankOf(version: string): number {
  const [, major = "0", stage = "", minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  const stability = { "": 2e6, beta: 1e6, alpha: 0 }[stage] ?? 0;
  return major === "0" ? -1 : stability + Number(major) * 1000 + Number(minor);
}

export const apiVersionOf = (type: Pick<ResourceType, "group" | "version">): string =>
  type.group === "" ? type.version : `${type.group}/${type.version}`;

const renamed = (object: KubeObject, pairs: readonly (readonly [string, string])[]): JsonObject => {
  const names = new Map(pairs);
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]));
};

/**
 * The object with defaults and without unknown fields; their paths are added to `unknown`. A custom resource loses nulls
 * that mean nothing, unless `keepsNulls`.
 */
export function fitted(
  type: ResourceType,
  object: KubeObject,
  unknown: string[] = [],
  keepsNulls = false,
): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  const known = pruned(rest, type.schema, "", unknown);
  const filled = type.custom ? known : withoutEmpty(known, type.schema);
  const content = defaulted(filled, type.schema, type.custom && keepsNulls);
  return { ...(isObject(content) ? content : {}), apiVersion, kind, metadata };
}

/**
 * A stored custom resource as a read returns it: with the defaults of the stored version. Another version only leaves
 * out the fields that it does not know.
 */
function asRead(type: ResourceType, object: KubeObject): KubeObject {
  if (!type.storedSchema) return fitted(type, object);
  const { apiVersion, kind, metadata, ...content } = fitted({ ...type, schema: type.storedSchema }, object);
  const known = withoutNulls(pruned(content, type.schema, "", []), type.schema);
  return { ...(isObject(known) ? known : {}), apiVersion, kind, metadata };
}

const servedAs = new WeakMap<ResourceType, WeakMap<KubeObject, KubeObject>>();

/**
 * A stored object in this version of its resource. Custom resources are fitted to the current schema, which may be
 * newer than the object. Stored objects never change, so the result is computed once per type.
 */
export function asServed(type: ResourceType, stored: KubeObject): KubeObject {
  if (!type.custom && type.renames.length === 0) return stored;
  const cache = servedAs.get(type) ?? new WeakMap<KubeObject, KubeObject>();
  servedAs.set(type, cache);
  const known = cache.get(stored);
  if (known) return known;
  const content = renamed(
    stored,
    type.renames.map(([here, there]) => [there, here] as const),
  );
  const served = { ...content, apiVersion: apiVersionOf(type), kind: type.kind, metadata: stored.metadata };
  const result = type.custom ? asRead(type, served) : served;
  cache.set(stored, result);
  return result;
}

/** An object of this version as it is stored: in the version and with the field names of the bucket. */
export const asStored = (type: ResourceType, object: KubeObject): KubeObject => {
  const { storedSchema, storedVersion = type.version } = type;
  if (storedSchema) {
    const apiVersion = apiVersionOf({ group: type.group, version: storedVersion });
    const { apiVersion: _, kind, metadata, ...rest } = object;
    // Reads add the defaults.
    const content = withoutNulls(pruned(rest, storedSchema, "", []), storedSchema);
    return { ...(isObject(content) ? content : {}), apiVersion, kind, metadata };
  }
  if (type.renames.length === 0) return object;
  const { kind, metadata } = object;
  return { ...renamed(object, type.renames), kind, apiVersion: "v1", metadata };
};
