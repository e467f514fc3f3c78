import type { ObjectKey, ObjectMetadata, OwnedKind } from "@drover/controller";
import { controllerOf, isControlledBy, type KubeObject, type ResourceRef } from "@drover/kube";
import { childId, type ObservedChild } from "./child.ts";
import { type ChildLabels, deletionOf, parentIn } from "./marks.ts";

/** The parent of children: the object of a run, the kinds that its controller owns, and Drover's labels for them. */
export interface Parent {
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  readonly metadata: ObjectMetadata;
  readonly owns: readonly OwnedKind[];
  readonly labels: ChildLabels;
  /** The parent as `parentText`, for a child in the same namespace. */
  readonly parent: string;
  /** The same for a child elsewhere. */
  readonly parentElsewhere: string;
  /** The ids of the children elsewhere that its annotation records. */
  readonly recorded: ReadonlySet<string>;
}

/** True for a child in the namespace, or without one, if the parent has another: it cannot have an owner reference. */
export const isElsewhere = ({ metadata: parent }: Parent, namespace: string | undefined): boolean =>
  parent.namespace !== undefined && parent.namespace !== namespace;

/** The parent as a child in this namespace names it in its annotation. */
export const parentNamedIn = (parent: Parent, namespace: string | undefined): string =>
  isElsewhere(parent, namespace) ? parent.parentElsewhere : parent.parent;

/**
 * True if the object is a child of this parent that this controller has made. Some children have no owner reference: the
 * garbage collector would delete one that outlives its parent, and one in another namespace at once.
 *
 * Users of another namespace can write all that is on an object there, but not the record on the parent.
 */
export function isChild(parent: Parent, child: ObservedChild): boolean {
  const { object } = child;
  if (isElsewhere(parent, object.metadata.namespace))
    return isMarked(parent, object) && parent.recorded.has(childId(child));
  if (isControlledBy(object.metadata, parent.metadata)) return hasLabels(parent, object);
  return isMarked(parent, object) && deletionOf(object) !== "Delete";
}

/** True if the object's labels name another controller of Drover, or another parent. */
export const isOfAnotherController = ({ labels }: Parent, { metadata }: KubeObject): boolean =>
  Object.entries(labels).some(([name, value]) => (metadata.labels?.[name] ?? value) !== value);

/**
 * True if an object with the name of a declared child is that child, also if others have changed its labels or its
 * annotations, but not both.
 */
export function isMarked(parent: Parent, object: KubeObject): boolean {
  const { namespace } = object.metadata;
  if (isOfAnotherController(parent, object) || controllerOf(object.metadata) !== undefined) return false;
  if (parentIn(object) === parentNamedIn(parent, namespace)) return true;
  const isUnowned =
    isElsewhere(parent, namespace) || deletionOf(object) !== "Delete" || parentIn(object) !== undefined;
  return isUnowned && hasLabels(parent, object);
}

/** True if the object has Drover's labels for a child of this parent. */
export const hasLabels = ({ labels }: Parent, { metadata }: KubeObject): boolean =>
  Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);
