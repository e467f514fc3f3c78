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
  /** Where its objects are stored: equal for all versions of one resource. */
  readonly bucket: string;
  readonly custom: boolean;
  /** Structural schema of everything but metadata: what is not in it is pruned. */
  readonly schema: JsonObject;
  /** Of the version that is stored, where that is another: what it does not know is lost. */
  readonly storedSchema?: JsonObject;
  /** The version that is stored, where that is another. */
  readonly storedVersion?: string;
  /** The status subresource exists: the main endpoint does not write status, `/status` writes nothing else. */
  readonly status: boolean;
  /** metadata.generation counts the changes of what is asked for. */
  readonly generation: boolean;
  /** PUT without a resourceVersion is accepted. */
  readonly unconditionalUpdate: boolean;
  /** DELETE answers the object instead of a Status. */
  readonly returnsDeleted: boolean;
  readonly nameRule: NameRule;
  /** What everybody is told who asks for it: that the version is deprecated. */
  readonly warnings: readonly string[];
  /** Columns after NAME; the last is an age. */
  readonly columns: readonly Column[];
  /** Fields, besides metadata.name and metadata.namespace, that a field selector may ask for. */
  readonly selectable: readonly string[];
  /** Field names that differ between this version and the stored one: [here, stored]. */
  readonly renames: readonly (readonly [string, string])[];
  /** What a few built-in kinds do besides being stored. */
  readonly behaviour: Behaviour;
}

/** The little that some kinds need code for. Every function is pure and may be left out. */
export interface Behaviour {
  /** The defaults of an object about to be created (`old` undefined) or updated: who writes it owns them. */
  readonly completed?: (object: KubeObject, old: KubeObject | undefined) => KubeObject;
  /** What the server and its admission plugins add after that: nobody owns it. */
  readonly admitted?: (object: KubeObject, old: KubeObject | undefined) => KubeObject;
  /** What is wrong with it beyond its schema. */
  readonly errors?: (
    object: KubeObject,
    old: KubeObject | undefined,
    subresource?: "" | "status",
  ) => FieldError[];
  /** What whoever writes it is told. */
  readonly warnings?: (object: KubeObject, old: KubeObject | undefined) => string[];
  /** What the first deletion changes, besides the deletion timestamp. */
  readonly terminating?: (object: KubeObject, now: string) => KubeObject;
  /** Completes an object about to be created by a value that no `other` of its kind has; `turn` grows with every change. */
  readonly allotted?: (object: KubeObject, others: readonly KubeObject[], turn: number) => KubeObject;
  /** Deletion is graceful: after how many seconds the object goes, where a request `asked` for that or did not. */
  readonly gracePeriod?: (object: KubeObject, asked: number | undefined) => number;
  /** An update of it leaves metadata to the generic code. */
  readonly leavesMetadata?: true;
  /** Something other than metadata.finalizers keeps a deleted object. */
  readonly held?: (object: KubeObject) => boolean;
}

export type NameRule = "subdomain" | "label" | "version" | "path";

export const ageColumn: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** What a type is where nothing else is said of it. */
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

/** An object through a type's schema: unknown fields out (their paths into `unknown`), defaults in. */
export function fitted(type: ResourceType, object: KubeObject, unknown: string[] = []): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  const known = pruned(rest, type.schema, "", unknown);
  const content = defaulted(type.custom ? known : withoutEmpty(known, type.schema), type.schema);
  return { ...(isObject(content) ? content : {}), apiVersion, kind, metadata };
}

/**
 * A stored custom resource as it is read: with the defaults of the version that is stored; another version only leaves
 * out what it does not know.
 */
function asRead(type: ResourceType, object: KubeObject): KubeObject {
  if (!type.storedSchema) return fitted(type, object);
  const { apiVersion, kind, metadata, ...content } = fitted({ ...type, schema: type.storedSchema }, object);
  const known = withoutNulls(pruned(content, type.schema, "", []), type.schema);
  return { ...(isObject(known) ? known : {}), apiVersion, kind, metadata };
}

const servedAs = new WeakMap<ResourceType, WeakMap<KubeObject, KubeObject>>();

/**
 * A stored object as this version of its resource shows it. Custom resources are fitted to the schema that holds now,
 * which may be newer than the object; stored objects never change, so each is worked out once per type.
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

/** An object of this version as it is stored: in the version, and under the field names, that own the bucket. */
export const asStored = (type: ResourceType, object: KubeObject): KubeObject => {
  const { storedSchema, storedVersion = type.version } = type;
  if (storedSchema) {
    const apiVersion = apiVersionOf({ group: type.group, version: storedVersion });
    const { apiVersion: _, kind, metadata, ...rest } = object;
    // Defaults come when it is read.
    const content = withoutNulls(pruned(rest, storedSchema, "", []), storedSchema);
    return { ...(isObject(content) ? content : {}), apiVersion, kind, metadata };
  }
  if (type.renames.length === 0) return object;
  const { kind, metadata } = object;
  return { ...renamed(object, type.renames), kind, apiVersion: "v1", metadata };
};
