import { InvalidKeyError, type ObjectKey, objectKey, type ObjectMetadata } from "@drover/controller";
import { type FieldPath, valuesAt } from "./field-path.ts";
import type { KubeObject } from "./kube-object.ts";
import type { ResourceRef } from "./resource-ref.ts";

/** How an object's changes come to the keys that they concern. */
export type Mapping = Naming | Filing | Lookup;

/** The object names them. */
export type Naming =
  /** It is of the controller's own kind, and names itself. */
  | { readonly by: "self" }
  /** Code is asked whom it concerns, by a job whose key is its own. */
  | { readonly by: "code" }
  /** Its controller owner reference names the object. */
  | { readonly by: "owner" }
  /** The value of a label or an annotation names it. */
  | ({ readonly by: "label" | "annotation"; readonly name: string } & Reach)
  /** What is found at a path of the object names it, or several. */
  | ({ readonly by: "field"; readonly path: FieldPath } & Reach);

/**
 * A value is a name in the object's own namespace. Only where this is granted is `namespace/name` believed of a
 * namespaced object, or a cluster-scoped object named by it: who may write an object in one namespace must not have an
 * effect in another one. A cluster-scoped object may name any.
 */
export interface Reach {
  readonly acrossNamespaces?: boolean | undefined;
}

/** The other way round: an object of the controller's kind says which others concern it, and is filed under that. */
export type Filing =
  /** It names objects of another kind; whom it names may be in any namespace, since it asks for that itself. */
  | { readonly by: "references"; readonly path: FieldPath; readonly to: ResourceRef }
  /** Its label selector matches them. */
  | { readonly by: "selects"; readonly path: FieldPath; readonly within: Within }
  /** It is there, for those that concern all. */
  | { readonly by: "presence"; readonly within: Within }
  /** It holds a value that the outside world knows it by. */
  | { readonly by: "holds"; readonly path: FieldPath };

/** Whom an object concerns is looked up among those that are filed. */
export type Lookup =
  | { readonly by: "referencedBy" }
  | { readonly by: "selectedBy"; readonly within: Within }
  | { readonly by: "all"; readonly within: Within };

/** Objects in one namespace concern those of the same alone, or all. */
export type Within = "namespace" | "cluster";

export const isFiling = (map: Mapping): map is Filing =>
  map.by === "references" || map.by === "selects" || map.by === "presence" || map.by === "holds";

export const isLookup = (map: Mapping): map is Lookup =>
  map.by === "referencedBy" || map.by === "selectedBy" || map.by === "all";

/** The keys that an object names, each once. A reference that no key can be made of names nobody. */
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
      return keyIfAny(metadata.namespace, metadata.name);
    case "owner":
      return ownersOf(metadata, target);
    case "label":
      return namedBy(metadata, [metadata.labels?.[map.name]], target, map);
    case "annotation":
      return namedBy(metadata, [metadata.annotations?.[map.name]], target, map);
    case "field":
      return namedBy(metadata, valuesAt(object, map.path), target, map);
    // What it holds says nothing about itself; the others are looked up.
    case "holds":
    case "referencedBy":
    case "selectedBy":
    case "all":
      return [];
  }
}

// An owner is in its object's namespace, or in none: Kubernetes allows no other. Its version may differ from ours.
function ownersOf(
  { namespace, ownerReferences = [] }: ObjectMetadata,
  owner: ResourceRef,
): readonly ObjectKey[] {
  return ownerReferences
    .filter(({ controller, kind, apiVersion }) => {
      return controller === true && kind === owner.kind && groupOf(apiVersion) === owner.group;
    })
    .flatMap(({ name }) => keyIfAny(owner.namespaced ? namespace : undefined, name));
}

/** The keys that values of an object name: each a name, `namespace/name`, or an object with `name` and `namespace`. */
export function namedBy(
  { namespace }: ObjectMetadata,
  values: readonly unknown[],
  target: ResourceRef,
  { acrossNamespaces = false }: Reach,
): readonly ObjectKey[] {
  const free = acrossNamespaces || namespace === undefined;
  const keys = values.flatMap((value) => {
    const named = nameIn(value);
    if (named === undefined) return [];
    if (!target.namespaced) return free ? keyIfAny(undefined, named.name) : [];
    const { namespace: where = namespace, name } = named;
    return where !== undefined && (free || where === namespace) ? keyIfAny(where, name) : [];
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

function keyIfAny(namespace: string | undefined, name: string): readonly ObjectKey[] {
  try {
    return [objectKey(namespace === undefined ? { name } : { namespace, name })];
  } catch (error) {
    if (error instanceof InvalidKeyError) return [];
    throw error;
  }
}

const groupOf = (apiVersion: string): string => {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
};
