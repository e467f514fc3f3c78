import { followedKinds, type ReconcileFunctionSpec } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { FunctionObject, Home } from "./function-objects.ts";
import { ownerAnnotation } from "./keep-object.ts";
import { functionLabel } from "./names.ts";

/** The label of ClusterRoles whose rules the controller manager adds to the bridge's own, as it does for `admin` and `view`. */
const aggregateToBridge = "drover.dev/aggregate-to-bridge";

/** What lets the bridge follow the kinds of a function; also of one that somebody else runs. */
export function bridgeRole({ namespace, name, uid }: Home, spec: ReconcileFunctionSpec): FunctionObject {
  const kinds = followedKinds(spec);
  const groups = [...new Set(kinds.map(({ group }) => group))];
  return {
    ref: builtin.clusterRole,
    object: {
      metadata: {
        name: `drover-bridge:${namespace}:${name}`,
        labels: { [functionLabel]: name, [aggregateToBridge]: "true" },
        annotations: { [ownerAnnotation]: uid },
      },
      rules: groups.map((group) => ({
        apiGroups: [group],
        resources: [...new Set(kinds.flatMap((kind) => (kind.group === group ? [kind.plural] : [])))],
        verbs: ["list", "watch"],
      })),
    },
    wanted: true,
  };
}
