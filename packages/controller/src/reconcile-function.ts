import { z } from "zod";
import type { Controller } from "./controller.ts";
import { defineResource, type Resource } from "./resource.ts";

/** A kind, by what it takes to watch it. */
const watchedKind = z.strictObject({
  group: z.string().meta({ description: "API group; empty for Kubernetes' core kinds." }),
  version: z.string().min(1),
  kind: z.string().min(1),
  plural: z.string().min(1),
  scope: z.enum(["Namespaced", "Cluster"]),
});

/**
 * How the bridge learns of a function: which kind its controller is for. The object's name is the controller's name,
 * and so the name of its queue.
 */
export const ReconcileFunction = defineResource({
  group: "drover.dev",
  version: "v1alpha1",
  kind: "ReconcileFunction",
  scope: "Namespaced",
  shortNames: ["rf"],
  description: "A controller, deployed as a function.",
  spec: z.strictObject({ for: watchedKind }),
  status: z.object({}),
});

/** A ReconcileFunction as it stands in a file. */
export interface ReconcileFunctionManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: z.output<(typeof ReconcileFunction)["spec"]>;
}

/** The manifest that registers a controller. */
export function reconcileFunctionOf<R extends Resource>({
  name,
  for: resource,
}: Controller<R>): ReconcileFunctionManifest {
  const { group, version, kind, plural, scope } = resource;
  return {
    apiVersion: ReconcileFunction.apiVersion,
    kind: ReconcileFunction.kind,
    metadata: { name },
    spec: { for: { group, version, kind, plural, scope } },
  };
}
