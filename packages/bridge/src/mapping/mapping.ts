import {
  InvalidKeyError,
  type ObjectKey,
  objectKey,
  type ObjectMetadata,
  parentAnnotation,
  parentText,
} from "@drover/controller";
import { type FieldPath, valuesAt } from "./field-path.ts";
import type { KubeObject, ResourceRef } from "@drover/kube";

/** How to find the keys that an object's change affects. */
export type Mapping = DirectMapping | IndexMapping | Lookup;

/** The object names the keys. */
export type DirectMapping =
  /** The object is of the controller's own kind, and names itself. */
  | { readonly by: "self" }
  /** The controller's code computes the keys, in a job under the object's own key. */
  | { readonly by: "code" }
  /** The controller owner reference names the key, or the annotation of a child that outlives its parent. */
  | { readonly by: "owner" }
  /** The value of a label or an annotation names the key. */
  | ({ readonly by: "label" | "annotation"; readonly name: string } & Reach)
  /** The values at a path of the object name one key or several. */
  | ({ readonly by: "field"; readonly path: FieldPath } & Reach);

/**
 * A value is a name in the object's own namespace. A namespaced object may name `namespace/name`, or a cluster-scoped
 * object, only with `acrossNamespaces`: a user that may write in one namespace must not have an effect in another one.
 * A cluster-scoped object may name any object.
 */
export interface Reach {
  readonly acrossNamespaces?: boolean | undefined;
}

/** The reverse direction: an object of the controller's kind declares which others affect it, in a reverse index. */
export type IndexMapping =
  /** It names objects of another kind. They may be in any namespace: the reference affects only the object itself. */
  | { readonly by: "references"; readonly path: FieldPath; readonly to: ResourceRef }
  /** It has a label selector that matches them. */
  | { readonly by: "selects"; readonly path: FieldPath; readonly within: Within }
  /** It exists: the others affect all objects. */
  | { readonly by: "presence"; readonly within: Within }
  /** It contains a value that identifies it outside the cluster. */
  | { readonly by: "holds"; readonly path: FieldPath };

/** The affected objects are looked up in a reverse index. */
export type Lookup =
  | { readonly by: "referencedBy" }
  | { readonly by: "selectedBy"; readonly within: Within }
  | { readonly by: "all"; readonly within: Within };

/** Objects in a namespace affect those in the same namespace only, or those in all. */
export type Within = "namespace" | "cluster";

export const isIndexMapping = (map: Mapping): map is IndexMapping =>
  map.by === "references" || map.by === "selects" || map.by === "presence" || map.by === "holds";

export const isLookup = (map: Mapping): map is Lookup =>
  map.by === "referencedBy" || map.by === "selectedBy" || map.by === "all";

/** The keys that an object names, without duplicates. A reference that cannot be a key is ignored. */
export function keysFor(
  object: KubeObject,
  { for: target, map }: { readonly for: ResourceRef; readonly map: Mapping },
): readonly ObjectKey[] {
  const { metadata } = object;
  switch (map.by) {
    case "self":
    case "code":
    case "references":
    case "selects":
    case "presence":
      return keyIfValid(metadata.namespace, metadata.name);
    case "owner":
      return ownersOf(metadata, target);
    case "label":
      return keysNamedBy(metadata, [metadata.labels?.[map.name]], target, map);
    case "annotation":
      return keysNamedBy(metadata, [metadata.annotations?.[map.name]], target, map);
    case "field":
      return keysNamedBy(metadata, valuesAt(object, map.path), target, map);
    // Entries of `holds` are found by their value, and the keys of lookups in the index.
    case "holds":
    case "referencedBy":
    case "selectedBy":
    case "all":
      return [];
  }
}

// An owner is in its object's namespace, or cluster-scoped: Kubernetes allows no other. The version in the reference
// may differ from ours, so only the group is compared.
function ownersOf(
  { namespace, ownerReferences = [], annotations }: ObjectMetadata,
  owner: ResourceRef,
): readonly ObjectKey[] {
  const owners = ownerReferences
    .filter(({ controller, kind, apiVersion }) => {
      return controller === true && kind === owner.kind && apiGroupOf(apiVersion) === owner.group;
    })
    .map(({ name }) => name);
  const parent = annotations?.[parentAnnotation] ?? "";
  const own = parentText(owner, "");
  const names = parent.startsWith(own) ? [...owners, parent.slice(own.length)] : owners;
  return [...new Set(names)].flatMap((name) => keyIfValid(owner.namespaced ? namespace : undefined, name));
}

/**
 * The keys that values of an object name. Each value is a name, `namespace/name`, or an object with `name` and
 * `namespace`.
 */
export function keysNamedBy(
  { namespace }: ObjectMetadata,
  values: readonly unknown[],
  target: ResourceRef,
  { acrossNamespaces = false }: Reach,
): readonly ObjectKey[] {
  const free = acrossNamespaces || namespace === undefined;
  const keys = values.flatMap((value) => {
    const named = nameIn(value);
    if (named === undefined) return [];
    if (!target.namespaced) return free ? keyIfValid(undefined, named.name) : [];
    const { namespace: where = namespace, name } = named;
    return where !== undefined && (free || where === namespace) ? keyIfValid(where, name) : [];
  });
  return [...new Set(keys)];
}

interface Named {
  readonly namespace?: string;
  readonly name: string;
}

function nameIn(value: unknown): Named | undefined {
  if (typeof value === "string") {
    const slash = value.indexOf("/");
    return slash < 0 ? { name: value } : { namespace: value.slice(0, slash), name: value.slice(slash + 1) };
  }
  if (typeof value !== "object" || value === null || !("name" in value)) return undefined;
  const { name } = value;
  const namespace = "namespace" in value ? value.namespace : undefined;
  if (typeof name !== "string") return undefined;
  return typeof namespace === "string" && namespace !== "" ? { namespace, name } : { name };
}

function keyIfValid(namespace: string | undefined, name: string): readonly ObjectKey[] {
  try {
    return [objectKey(namespace === undefined ? { name } : { namespace, name })];
  } catch (error) {
    if (error instanceof InvalidKeyError) return [];
    throw error;
  }
}

const apiGroupOf = (apiVersion: string): string => {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
};
