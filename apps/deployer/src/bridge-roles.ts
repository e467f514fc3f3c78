import { followedKinds, type ReconcileFunctionSpec } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { FunctionObject } from "./function-objects.ts";
import { type Home, ownedElsewhere, ownedInCluster, type PartAccount, roleRefOf } from "./home.ts";

/** The label of ClusterRoles whose rules the controller manager adds to the bridge's own, as it does for `admin` and `view`. */
const aggregateToBridge = "drover.dev/aggregate-to-bridge";

/** The name of all Roles, ClusterRoles and RoleBindings with which the bridge follows the kinds of a function. */
export const bridgeRoleOf = ({ namespace, name }: Home): string => `drover-bridge:${namespace}:${name}`;

/**
 * The rights with which the bridge follows the kinds of a function, also of one that the deployer does not run: in the
 * namespaces that the function names, and in all of them only for kinds that it follows everywhere.
 */
export function bridgeRoles(
  home: Home,
  spec: ReconcileFunctionSpec,
  account: PartAccount,
): readonly FunctionObject[] {
  const kinds = followedKinds(spec);
  const everywhere = kinds.filter(({ namespaces }) => namespaces === undefined);
  const named = new Set(kinds.flatMap(({ namespaces = [] }) => namespaces));
  const name = bridgeRoleOf(home);
  return [
    {
      ref: builtin.clusterRole,
      object: {
        metadata: ownedInCluster(home, name, { [aggregateToBridge]: "true" }),
        rules: rulesFor(everywhere),
      },
      wanted: everywhere.length > 0,
    },
    ...[...named].sort().flatMap((namespace): readonly FunctionObject[] => {
      const metadata = ownedElsewhere(home, namespace, name);
      const rules = rulesFor(kinds.filter(({ namespaces }) => namespaces?.includes(namespace)));
      const subjects = [{ kind: "ServiceAccount", ...account }];
      const roleRef = roleRefOf(builtin.role, name);
      return [
        { ref: builtin.role, object: { metadata, rules }, wanted: true, elsewhere: true },
        { ref: builtin.roleBinding, object: { metadata, subjects, roleRef }, wanted: true, elsewhere: true },
      ];
    }),
  ];
}

type Followed = ReturnType<typeof followedKinds>[number];

const rulesFor = (kinds: readonly Followed[]) =>
  [...Map.groupBy(kinds, ({ group }) => group)].map(([group, ofGroup]) => ({
    apiGroups: [group],
    resources: [...new Set(ofGroup.map(({ plural }) => plural))],
    verbs: ["list", "watch"],
  }));
