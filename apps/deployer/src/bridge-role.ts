import { followedKinds, type ReconcileFunctionSpec } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { FunctionObject } from "./function-objects.ts";
import { type Home, ownedInCluster } from "./home.ts";

/** The label of ClusterRoles whose rules the controller manager adds to the bridge's own, as it does for `admin` and `view`. */
const aggregateToBridge = "drover.dev/aggregate-to-bridge";

/** What lets the bridge follow the kinds of a function; also of one that somebody else runs. */
export function bridgeRole(home: Home, spec: ReconcileFunctionSpec): FunctionObject {
  const kinds = followedKinds(spec);
  const groups = [...new Set(kinds.map(({ group }) => group))];
  return {
    ref: builtin.clusterRole,
    object: {
      metadata: ownedInCluster(home, `drover-bridge:${home.namespace}:${home.name}`, {
        [aggregateToBridge]: "true",
      }),
      rules: groups.map((group) => ({
        apiGroups: [group],
        resources: [...new Set(kinds.flatMap((kind) => (kind.group === group ? [kind.plural] : [])))],
        verbs: ["list", "watch"],
      })),
    },
    wanted: true,
  };
}
