import type { ObjectMetadata, OwnerReference } from "@drover/controller";

/** The owner reference of an object's controller. Undefined if it has none. */
export const controllerOf = ({ ownerReferences = [] }: ObjectMetadata): OwnerReference | undefined =>
  ownerReferences.find(({ controller }) => controller === true);

/** True if an object is controlled by this owner, and not by another one of its name. */
export const isControlledBy = (metadata: ObjectMetadata, owner: Pick<ObjectMetadata, "uid">): boolean =>
  controllerOf(metadata)?.uid === owner.uid;
