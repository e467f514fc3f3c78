import { z } from "zod";
import type { KubeObject, ResourceRef } from "../object/object-client.ts";
import type { ReconcileContext, ReconcileResult } from "./reconcile-context.ts";
import type { Resource } from "../resource/resource.ts";

/** Labels and annotations that begin so are Drover's: a function does not declare them. */
export const markPrefix = "drover.dev/";

const marks = z
  .record(z.string(), z.string())
  .refine((all) => Object.keys(all).every((name) => !name.startsWith(markPrefix)), {
    error: `has a name that begins with ${markPrefix}, which is for Drover's own`,
  })
  .exactOptional();

/** A child as a function declares it: only fields that a manifest has, since Drover sets the others. */
export const childObjectSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.strictObject({
    name: z.string().min(1),
    namespace: z.string().min(1).exactOptional(),
    labels: marks,
    annotations: marks,
    finalizers: z.array(z.string()).exactOptional(),
  }),
});

/** Most children of one object. More would not fit into one run. */
export const maxChildren = 500;

/** A child with settings. */
export const settledChildSchema = z
  .strictObject({
    object: childObjectSchema,
    wave: z.int().min(-1_000).max(1_000).default(0).meta({
      description: "Children of a higher wave are applied when all children of lower waves are ready.",
    }),
    update: z
      .enum(["Apply", "Recreate", "OnDelete", "Rolling"])
      .default("Apply")
      .meta({
        description:
          "Apply: its fields are changed in place. Recreate: as Apply, but if a field is immutable, the child is deleted and " +
          "created again. OnDelete: it is not changed; when it has been deleted, it is created with the new fields. Rolling: " +
          "as Recreate, while at most maxUnavailable of the Rolling children of its kind are not ready.",
      }),
    maxUnavailable: z.int().min(1).max(500).default(1).meta({ description: "For Rolling." }),
    deletion: z
      .enum(["Delete", "Orphan", "Retain"])
      .default("Delete")
      .meta({
        description:
          "What happens to it when it is no longer declared, and when its parent is deleted. Delete: it is deleted. Orphan: it " +
          "stays, without owner and without Drover's labels. Retain: it stays, and is used again if it is declared again.",
      }),
    adopt: z.boolean().default(false).meta({
      description:
        "An object of this name that has no controller becomes the child. Otherwise it is an error.",
    }),
  })
  .meta({ description: "A child with settings." });

/** A child as a function declares it: an object as in a manifest, of a kind that the controller `owns`. */
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

/** A child with settings: in which order it is applied, how it is updated, and what becomes of it. */
export type SettledChild = Readonly<Omit<z.input<typeof settledChildSchema>, "object">> & {
  readonly object: ChildObject;
};

/** A child: only its object, or its object with settings. */
export type Child = ChildObject | SettledChild;

/** Objects as they were read for a run: the children of all owned kinds, or the related objects. */
export interface ObservedObjects {
  readonly all: readonly KubeObject[];
  /** Those of a kind. */
  of(ref: ResourceRef): readonly KubeObject[];
  /** One by its kind and name, in the namespace of the run's object. */
  get(ref: ResourceRef, name: string): KubeObject | undefined;
}

/** @param namespace of the run's object; undefined if it is cluster-scoped. */
export const observedObjects = (
  all: readonly KubeObject[],
  namespace: string | undefined,
): ObservedObjects => ({
  all,
  of: (ref) => all.filter((object) => isOf(object, ref)),
  get: (ref, name) =>
    all.find(
      (object) =>
        isOf(object, ref) &&
        object.metadata.name === name &&
        (!ref.namespaced || namespace === undefined || object.metadata.namespace === namespace),
    ),
});

const isOf = (object: KubeObject, { group, version, kind }: ResourceRef): boolean =>
  object.kind === kind && object.apiVersion === (group === "" ? version : `${group}/${version}`);

/** The argument of `compose`: the object as it was read, and what exists for it. It has no client: compose only decides. */
export interface ComposeContext<R extends Resource> extends Pick<
  ReconcileContext<R>,
  "key" | "metadata" | "spec" | "status" | "object" | "log" | "now" | "signal"
> {
  /** The children that exist. */
  readonly children: ObservedObjects;
  /** The related objects that exist, of the kinds that the controller declares as `related`. */
  readonly related: ObservedObjects;
}

/** The objects that exist for an object, as they were read for one run. */
export type Observed = Pick<ComposeContext<Resource>, "children" | "related">;

/** The argument of `compose` in a run with this context. */
export const composeContext = <R extends Resource>(
  { key, metadata, spec, status, object, log, now, signal }: ReconcileContext<R>,
  { children, related }: Observed,
): ComposeContext<R> => ({ key, metadata, spec, status, object, log, now, signal, children, related });

/** What should exist for an object. */
export interface ComposeResult<R extends Resource> extends Pick<
  ReconcileResult<R>,
  "status" | "conditions" | "requeueAfter"
> {
  /** All children. Those that were declared before and are left out now are deleted, or as their `deletion` says. */
  readonly children: readonly Child[];
}

/**
 * Declares the children of an object. It is called at any time, for any reason, and has no effects of its own.
 *
 * Drover creates and changes them by server-side apply, as the field manager of the controller: fields that others have
 * set and compose does not declare are left alone. If `conditions` has no Ready, Ready is true when all children are
 * ready.
 */
export type Compose<R extends Resource> = (
  context: ComposeContext<R>,
) => Promise<ComposeResult<R>> | ComposeResult<R>;
