import type { ReconcileFunctionManifest } from "./reconcile-function.ts";

/** The label of ClusterRoles whose rules the bridge has, too. */
export const aggregateToBridge = "drover.dev/aggregate-to-bridge";

/** A ClusterRole, as far as Drover writes it. */
export interface BridgeRole {
  readonly apiVersion: "rbac.authorization.k8s.io/v1";
  readonly kind: "ClusterRole";
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/**
 * What the bridge must be allowed to follow the kinds of a function: to be installed beside it. The label has the
 * controller manager add the rules to the bridge's own role, as Kubernetes aggregates `admin`, `edit` and `view`.
 */
export function bridgeRoleOf({ metadata: { name }, spec }: ReconcileFunctionManifest): BridgeRole {
  const kinds = [spec.for, ...(spec.owns ?? []), ...(spec.watches ?? [])];
  const groups = [...new Set(kinds.map(({ group }) => group))];
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `drover-bridge:${name}`, labels: { [aggregateToBridge]: "true" } },
    rules: groups.map((group) => ({
      apiGroups: [group],
      resources: [...new Set(kinds.flatMap((kind) => (kind.group === group ? [kind.plural] : [])))],
      verbs: ["list", "watch"],
    })),
  };
}
