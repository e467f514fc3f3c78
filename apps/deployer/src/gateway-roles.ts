import { type ReconcileFunctionSpec, serviceNameOf, webhookSecretOf } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { FunctionObject } from "./function-objects.ts";
import { type Home, ownedBy, ownedInCluster, type PartAccount, roleRefOf } from "./home.ts";

/** The label of ClusterRoles whose rules the controller manager adds to the gateway's own. */
const aggregateToGateway = "drover.dev/aggregate-to-gateway";

/**
 * What the gateway may do on behalf of one function that is called: read and write the objects that it is for, read the
 * secret that calls are signed with, and look up its Service.
 */
export function gatewayRoles(
  home: Home,
  spec: ReconcileFunctionSpec,
  account: PartAccount,
): readonly FunctionObject[] {
  const { group, plural } = spec.for;
  const named = { name: `${home.name}-gateway`, ...ownedBy(home) };
  const service = spec.webhook?.service?.name ?? serviceNameOf(home.name);
  const one = (resource: string, name: string) => ({
    ...{ apiGroups: [""], resources: [resource], resourceNames: [name], verbs: ["get"] },
  });
  return [
    {
      ref: builtin.clusterRole,
      object: {
        metadata: ownedInCluster(home, `drover-gateway:${home.namespace}:${home.name}`, {
          [aggregateToGateway]: "true",
        }),
        rules: [
          { apiGroups: [group], resources: [plural], verbs: ["get", "patch"] },
          { apiGroups: [group], resources: [`${plural}/status`], verbs: ["update"] },
        ],
      },
      wanted: true,
    },
    {
      ref: builtin.role,
      object: {
        metadata: named,
        rules: [one("secrets", webhookSecretOf(home.name)), one("services", service)],
      },
      wanted: true,
      reviewed: false,
    },
    {
      ref: builtin.roleBinding,
      object: {
        metadata: named,
        subjects: [{ kind: "ServiceAccount", ...account }],
        roleRef: roleRefOf(builtin.role, named.name),
      },
      wanted: true,
    },
  ];
}
