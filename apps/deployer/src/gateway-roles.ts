import { type ReconcileFunctionSpec, serviceNameOf, webhookSecretOf } from "@drover/controller";
import { builtin, type NewObject, type ResourceRef } from "@drover/kube";
import { ownedBy, type Home } from "./function-objects.ts";
import { ownerAnnotation } from "./keep-object.ts";
import { functionLabel } from "./names.ts";

/** The ServiceAccount of the gateways. */
export interface GatewayAccount {
  readonly namespace: string;
  readonly name: string;
}

/** The label of ClusterRoles whose rules the controller manager adds to the gateway's own. */
const aggregateToGateway = "drover.dev/aggregate-to-gateway";

/**
 * What the gateway may do on behalf of one function that is called: read and write the objects that it is for, read the
 * secret that calls are signed with, and look up its Service.
 */
export function gatewayRoles(
  home: Home,
  spec: ReconcileFunctionSpec,
  account: GatewayAccount,
): readonly { readonly ref: ResourceRef; readonly object: NewObject }[] {
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
        metadata: {
          name: `drover-gateway:${home.namespace}:${home.name}`,
          labels: { [functionLabel]: home.name, [aggregateToGateway]: "true" },
          annotations: { [ownerAnnotation]: home.uid },
        },
        rules: [
          { apiGroups: [group], resources: [plural], verbs: ["get", "patch"] },
          { apiGroups: [group], resources: [`${plural}/status`], verbs: ["update"] },
        ],
      },
    },
    {
      ref: builtin.role,
      object: {
        metadata: named,
        rules: [one("secrets", webhookSecretOf(home.name)), one("services", service)],
      },
    },
    {
      ref: builtin.roleBinding,
      object: {
        metadata: named,
        subjects: [{ kind: "ServiceAccount", ...account }],
        roleRef: { apiGroup: builtin.role.group, kind: builtin.role.kind, name: named.name },
      },
    },
  ];
}
