import type { z } from "zod";
import { type Controller, defaultRunSettings } from "../definition/controller.ts";
import { formatDuration, parseDuration } from "../duration.ts";
import type { Resource } from "../resource/resource.ts";
import type { Kind } from "../definition/watched-kinds.ts";
import { type ReconcileFunctionSpec, ReconcileFunction } from "./reconcile-function.ts";

/** A ReconcileFunction as in a manifest file. */
export interface ReconcileFunctionManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: ReconcileFunctionSpec;
}

/** The part of a ReconcileFunction that the controller code does not define: its deployment. */
export type FunctionDeployment = Omit<
  z.input<(typeof ReconcileFunction)["spec"]>,
  "for" | "owns" | "watches" | "copies" | "copiesFor"
>;

/**
 * The manifest that registers a controller and deploys it.
 * @throws ZodError for an invalid deployment.
 */
export function reconcileFunctionOf<R extends Resource>(
  { name, for: resource, only, owns, watches, copies, copiesFor }: Controller<R>,
  deployment: FunctionDeployment = {},
): ReconcileFunctionManifest {
  const spec = ReconcileFunction.spec.parse({
    for: { ...kindOf(resource), ...only },
    ...(owns.length > 0 && { owns: owns.map(({ kind: of, ...which }) => ({ ...kindOf(of), ...which })) }),
    ...(watches.length > 0 && {
      watches: watches.map(({ kind: of, names, ...which }) => ({
        ...kindOf(of),
        ...which,
        names: typeof names === "function" ? inCode(resource, which) : names,
      })),
    }),
    ...(copies && { copies }),
    ...(copiesFor !== parseDuration(defaultRunSettings.copiesFor) && {
      copiesFor: formatDuration(copiesFor),
    }),
    ...deployment,
  });
  return {
    apiVersion: ReconcileFunction.apiVersion,
    kind: ReconcileFunction.kind,
    metadata: { name },
    spec,
  };
}

/** Code that names related objects may name those of any namespace if its own objects have none. */
const inCode = ({ scope }: Kind, { related = false }: { readonly related?: boolean | undefined }) =>
  related && scope === "Cluster" ? { code: true, acrossNamespaces: true } : { code: true };

const kindOf = ({ group, version, kind: name, plural, scope }: Kind) => ({
  group,
  version,
  kind: name,
  plural,
  scope,
});
