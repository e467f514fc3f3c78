import { type Reach, keysNamedBy } from "./named-keys.ts";
import { parentAnnotation, parentText } from "./object-annotations.ts";
import type { ResourceRef } from "./object-client.ts";
import { type ObjectKey, tryObjectKey } from "./object-key.ts";
import type { ObjectMetadata } from "../resource/resource.ts";

/**
 * The keys of the objects of a kind that control an object: by its owner reference, or by the annotation of a child that
 * cannot have one.
 *
 * An owner is in its object's namespace, or cluster-scoped: Kubernetes allows no other. The version in the reference may
 * differ from that of the kind, so only the group is compared.
 *
 * @param reach how far the annotation reaches: its name may have a namespace.
 */
export function parentsOf(
  { namespace, ownerReferences = [], annotations }: ObjectMetadata,
  owner: ResourceRef,
  reach: Reach,
): readonly ObjectKey[] {
  const owners = ownerReferences
    .filter(({ controller, kind, apiVersion }) => {
      return controller === true && kind === owner.kind && apiGroupOf(apiVersion) === owner.group;
    })
    .map(({ name }) => name);
  const text = annotations?.[parentAnnotation] ?? "";
  const own = parentText(owner, "");
  const parent = text.startsWith(own) ? text.slice(own.length) : "";
  const names = parent === "" || parent.includes("/") ? owners : [...owners, parent];
  // An object without a namespace has no owner with one.
  const isPossible = !owner.namespaced || namespace !== undefined;
  const here = isPossible
    ? names.flatMap((name) => tryObjectKey(owner.namespaced ? { namespace, name } : { name }) ?? [])
    : [];
  const elsewhere = parent.includes("/") ? keysNamedBy({ namespace }, [parent], owner, reach) : [];
  return [...new Set([...here, ...elsewhere])];
}

const apiGroupOf = (apiVersion: string): string => {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
};
