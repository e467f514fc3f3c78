import { type FollowedKind, followedKinds, type ReconcileFunctionSpec } from "@drover/controller";
import type { FunctionObject } from "../objects/function-object.ts";
import type { FunctionRef, ServiceAccountRef } from "../function-ref.ts";
import { scopedRoles } from "./scoped-roles.ts";

/**
 * The label of ClusterRoles that kube-controller-manager aggregates into the bridge's own, as with `admin` and `view`.
 */
const aggregateToBridge = "drover.dev/aggregate-to-bridge";

/** The name of the Roles, ClusterRoles and RoleBindings that let the bridge list and watch the kinds of a function. */
export const bridgeRoleName = ({ namespace, name }: FunctionRef): string =>
  `drover-bridge:${namespace}:${name}`;

/** The roles that let the bridge list and watch the kinds of a function, also of one that the deployer does not run. */
export const bridgeRoles = (
  functionRef: FunctionRef,
  spec: ReconcileFunctionSpec,
  account: ServiceAccountRef,
): readonly FunctionObject[] =>
  scopedRoles(functionRef, followedKinds(spec), {
    name: bridgeRoleName(functionRef),
    account,
    aggregatedBy: aggregateToBridge,
    rulesFor: (kinds) =>
      [...Map.groupBy(kinds, ({ group }) => group)].map(([group, ofGroup]) => ({
        apiGroups: [group],
        resources: [...new Set(ofGroup.map(({ plural }: FollowedKind) => plural))],
        verbs: ["list", "watch"],
      })),
  });
