import { InvalidKeyError, type ObjectKey, objectKey, type ObjectMetadata } from "@drover/controller";
import { type FieldPath, valuesAt } from "./field-path.ts";
import type { KubeObject } from "./kube-object.ts";
import type { ResourceRef } from "./resource-ref.ts";

/** How an object names the keys that it concerns. */
export type Mapping =
  /** It is of the controller's own kind, and names itself. */
  | { readonly by: "self" }
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

/** The keys that an object names, each once. A reference that no key can be made of names nobody. */
export function keysFor(
  object: KubeObject,
  { for: target, map }: { readonly for: ResourceRef; readonly map: Mapping },
): readonly ObjectKey[] {
  const { metadata } = object;
  switch (map.by) {
    case "self":
      return keyIfAny(metadata.namespace, metadata.name);
    case "owner":
      return ownersOf(metadata, target);
    case "label":
      return named(metadata, [metadata.labels?.[map.name]], target, map);
    case "annotation":
      return named(metadata, [metadata.annotations?.[map.name]], target, map);
    case "field":
      return named(metadata, valuesAt(object, map.path), target, map);
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

function named(
  { namespace }: ObjectMetadata,
  values: readonly unknown[],
  target: ResourceRef,
  { acrossNamespaces = false }: Reach,
): readonly ObjectKey[] {
  const free = acrossNamespaces || namespace === undefined;
  const keys = values.flatMap((value) => {
    if (typeof value !== "string") return [];
    if (!target.namespaced) return free ? keyIfAny(undefined, value) : [];
    const slash = value.indexOf("/");
    if (slash < 0) return namespace === undefined ? [] : keyIfAny(namespace, value);
    const elsewhere = value.slice(0, slash);
    return free || elsewhere === namespace ? keyIfAny(elsewhere, value.slice(slash + 1)) : [];
  });
  return [...new Set(keys)];
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
