import { type FollowedKind, followedKinds, type ReconcileFunctionSpec } from "@drover/controller";
import type { FunctionObject } from "./function-objects.ts";
import type { Home, PartAccount } from "./home.ts";
import { placedRoles } from "./placed-roles.ts";

/**
 * The label of ClusterRoles that kube-controller-manager aggregates into the bridge's own, as with `admin` and `view`.
 */
const aggregateToBridge = "drover.dev/aggregate-to-bridge";

/** The name of the Roles, ClusterRoles and RoleBindings that let the bridge list and watch the kinds of a function. */
export const bridgeRoleOf = ({ namespace, name }: Home): string => `drover-bridge:${namespace}:${name}`;

/** The roles that let the bridge list and watch the kinds of a function, also of one that the deployer does not run. */
export const bridgeRoles = (
  home: Home,
  spec: ReconcileFunctionSpec,
  account: PartAccount,
): readonly FunctionObject[] =>
  placedRoles(home, followedKinds(spec), {
    name: bridgeRoleOf(home),
    account,
    aggregatedBy: aggregateToBridge,
    rulesFor: (kinds) =>
      [...Map.groupBy(kinds, ({ group }) => group)].map(([group, ofGroup]) => ({
        apiGroups: [group],
        resources: [...new Set(ofGroup.map(({ plural }: FollowedKind) => plural))],
        verbs: ["list", "watch"],
      })),
  });
