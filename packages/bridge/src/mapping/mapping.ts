import {
  type FieldPath,
  keysNamedBy,
  type ObjectKey,
  type ObjectName,
  parentsOf,
  type Reach,
  splitObjectKey,
  tryObjectKey,
  valuesAt,
} from "@drover/controller";
import type { KubeObject, ResourceRef } from "@drover/kube";

/** How to find the keys that an object's change affects. */
export type Mapping = DirectMapping | IndexMapping | Lookup;

/** The object names the keys. */
export type DirectMapping =
  /** The object is of the controller's own kind, and names itself. */
  | { readonly by: "self" }
  /** The controller's code computes the keys, in a job under the object's own key. */
  | { readonly by: "code" }
  /** The controller owner reference names the key, or the annotation of a child that cannot have one. */
  | ({ readonly by: "owner" } & Reach)
  /** The value of a label or an annotation names the key. */
  | ({ readonly by: "label" | "annotation"; readonly name: string } & Reach)
  /** The values at a path of the object name one key or several. */
  | ({ readonly by: "field"; readonly path: FieldPath } & Reach);

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

/** The kind and the namespaces of keys, and how they are found. */
interface KeySearch {
  readonly for: ResourceRef;
  readonly map: Mapping;
  readonly keysIn?: readonly string[] | undefined;
}

/** The keys that an object names, without duplicates. A reference that cannot be a key is ignored. */
export function keysFor(object: KubeObject, search: KeySearch): readonly ObjectKey[] {
  const { keysIn } = search;
  const keys = allKeysFor(object, search);
  return keysIn === undefined ? keys : keys.filter((key) => isIn(keysIn, key));
}

const isIn = (namespaces: readonly string[], key: ObjectKey): boolean =>
  namespaces.includes(splitObjectKey(key).namespace ?? "");

function allKeysFor(object: KubeObject, { for: target, map }: KeySearch): readonly ObjectKey[] {
  const { metadata } = object;
  switch (map.by) {
    case "self":
    case "code":
    case "references":
    case "selects":
    case "presence":
      return keyIfValid(metadata);
    case "owner":
      return parentsOf(metadata, target, map);
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

const keyIfValid = (name: ObjectName): readonly ObjectKey[] => {
  const key = tryObjectKey(name);
  return key === undefined ? [] : [key];
};
