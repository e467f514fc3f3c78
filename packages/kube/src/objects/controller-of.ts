import type { NewObject, ObjectMetadata, OwnerReference } from "@drover/controller";
import type { RunOwner } from "../client/client.ts";
import { apiVersionOf, type ResourceRef } from "./resource-ref.ts";

/** The owner reference of an object's controller. Undefined if it has none. */
export const controllerOf = ({ ownerReferences = [] }: ObjectMetadata): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller === true);

/** True if an object is controlled by this owner, and not by another one of its name. */
export const isControlledBy = (metadata: ObjectMetadata, owner: Pick<ObjectMetadata, "uid">): boolean =>
  controllerOf(metadata)?.uid === owner.uid;

/** An object that controls others, and its kind. */
export interface ControllingObject {
  readonly ref: ResourceRef;
  readonly metadata: Pick<ObjectMetadata, "name" | "uid">;
}

/** The owner reference in an object that this object controls (`metav1.NewControllerRef`). */
export const controllerReference = ({ ref, metadata }: ControllingObject): OwnerReference => ({
  apiVersion: apiVersionOf(ref),
  kind: ref.kind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/**
 * The object with the controller reference of a run's object, in place of an earlier one to the same owner.
 *
 * @throws OwnershipError outside of a run, and for an object of another namespace: Kubernetes' garbage collector deletes
 * an object whose owner is in another namespace.
 */
export function ownedBy(owner: RunOwner | undefined, object: NewObject): NewObject {
  const { name, namespace, ownerReferences = [] } = object.metadata;
  const problem = (what: string): Error => new OwnershipError(`${name} cannot be owned: ${what}`);
  if (owner === undefined) throw problem("only the client of a run has an owner for it.");
  if (owner.namespace !== undefined && namespace !== owner.namespace)
    throw problem(
      `its owner is in the namespace ${owner.namespace}, and it is ${namespace === undefined ? "cluster-scoped" : `in ${namespace}`}. ` +
        "Leave owned out, and delete it in finalize.",
    );
  const others = ownerReferences.filter(({ uid }) => uid !== owner.reference.uid);
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...others, owner.reference] } };
}

/** An object that cannot have the owner reference that was asked for. */
export class OwnershipError extends Error {
  override readonly name = "OwnershipError";
}
