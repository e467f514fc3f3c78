import type { ObjectKey, ResourceRef, settledChildSchema } from "@drover/controller";
import { type KubeObject, type NewObject, resourceNameOf } from "@drover/kube";
import type { z } from "zod";

/** A declared child that was checked. */
export interface DesiredChild extends Readonly<Omit<z.output<typeof settledChildSchema>, "object">> {
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  /**
   * True if it has an owner reference, and so is deleted with its parent by the garbage collector. Otherwise it names its
   * parent in an annotation: it outlives its parent, or Kubernetes does not allow an owner in another namespace.
   */
  readonly isOwned: boolean;
  /** The object with namespace and Drover's marks, as it is applied. */
  readonly object: NewObject;
  /** Identifies what the function has declared: see `appliedAnnotation`. */
  readonly hash: string;
  /** The characters of the object as JSON. */
  readonly size: number;
}

/** For messages: `Deployment web`. */
export const titleOf = (
  ref: ResourceRef,
  { metadata: { name } }: { readonly metadata: { readonly name: string } },
): string => `${ref.kind} ${name}`;

/** An existing child of the object of a run. */
export interface ObservedChild {
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  readonly object: KubeObject;
}

/** Identifies a child within one parent: `deployments.apps/default/a`. */
export const childId = ({ ref, key }: Pick<ObservedChild, "ref" | "key">): string =>
  `${resourceNameOf(ref)}/${key}`;
