import type { ResourceRef } from "@drover/controller";
import type { KubeObject, NewObject } from "@drover/kube";
import type { ObjectKey } from "@drover/controller";

/** A child as a function declares it: an object as in a manifest. Its kind must be one that the controller `owns`. */
export interface ChildObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Labels and annotations of `drover.dev/` are Drover's own. The namespace is that of the parent, and may be left out. */
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly finalizers?: readonly string[] | undefined;
  };
  readonly [field: string]: unknown;
}

/** How a child is updated, in which order, and what becomes of it in the end. */
export interface ChildSettings {
  /** Children of a higher wave are applied when all children of lower waves are ready. Default 0. */
  readonly wave?: number | undefined;
  /**
   * - `Apply`: its fields are changed in place. Default.
   * - `Recreate`: as Apply; if the API server refuses it because a field is immutable, the child is deleted, and
   *   created again.
   * - `OnDelete`: it is not changed. When it has been deleted, it is created with the new fields.
   * - `Rolling`: as Recreate, while at most `maxUnavailable` of the children of its kind with `Rolling` are not ready.
   */
  readonly update?: "Apply" | "Recreate" | "OnDelete" | "Rolling" | undefined;
  /** For `Rolling`. Default 1. */
  readonly maxUnavailable?: number | undefined;
  /**
   * What happens to it when the function no longer declares it, and when the parent is deleted.
   *
   * - `Delete`: it is deleted. Default.
   * - `Orphan`: it stays, without owner reference and without Drover's labels: others may adopt it.
   * - `Retain`: it stays as it is, and is used again if the function declares it again.
   */
  readonly deletion?: "Delete" | "Orphan" | "Retain" | undefined;
  /** If true, an object of this name that has no controller becomes the child. Default: it is an error. */
  readonly adopt?: boolean | undefined;
}

/** A child: only its object, or its object with settings. */
export type Child = ChildObject | SettledChild;

/** A child with settings. */
export interface SettledChild extends ChildSettings {
  readonly object: ChildObject;
}

/** A declared child that was checked. */
export interface DesiredChild extends Required<{
  [K in keyof ChildSettings]: NonNullable<ChildSettings[K]>;
}> {
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  /** The object with namespace and Drover's marks, as it is applied. */
  readonly object: NewObject;
  /** Identifies what the function has declared: see `appliedAnnotation`. */
  readonly hash: string;
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

/** Identifies a child within one parent. */
export const childId = ({ ref, key }: Pick<ObservedChild, "ref" | "key">): string =>
  `${ref.plural}.${ref.group}/${key}`;
