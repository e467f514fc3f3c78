import { InvalidKeyError, type ObjectKey, objectKey, type ObjectMetadata } from "@drover/controller";
import type { ObjectEvent } from "./reflector/object-event.ts";
import type { ResourceRef } from "./resource-ref.ts";

/**
 * Why a controller watches a kind: how a change of one of its objects (`ref`) names the keys to look at again. All is
 * declared, so that it can be done without the controller's code.
 */
export type Subscription =
  /** The objects that the controller is for: each names itself. */
  | { readonly map: "for"; readonly ref: ResourceRef }
  /** Objects that have an object of the kind `owner` as their controller owner reference. */
  | { readonly map: "owner"; readonly ref: ResourceRef; readonly owner: ResourceRef };

/**
 * The keys that an event concerns, each once. Both what the object is now and what it was count: one that changed
 * hands concerns both owners. A reference that no key can be made of concerns nobody.
 */
export function keysOf(
  event: Pick<ObjectEvent, "key" | "object" | "previous">,
  subscription: Subscription,
): readonly ObjectKey[] {
  switch (subscription.map) {
    case "for":
      return [event.key];
    case "owner": {
      const versions = event.previous === undefined ? [event.object] : [event.object, event.previous.object];
      return [...new Set(versions.flatMap((metadata) => ownersOf(metadata, subscription.owner)))];
    }
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
