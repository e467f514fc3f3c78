import { gatewayRules } from "@drover/controller";
import { type Manifest } from "../../harness/manifests.ts";

/**
 * What the deployer makes for a function that is called, where there is none: the rights of its ServiceAccount, as which the
 * gateway acts. The sandbox knows no rights.
 */
export function calledAccount(
  name: string,
  kind: { readonly group: string; readonly plural: string },
): readonly Manifest[] {
  const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" };
  const metadata = { name: `called-${name}` };
  return [
    { ...rbac, kind: "ClusterRole", metadata, rules: gatewayRules(kind) },
    {
      ...rbac,
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name, namespace: "default" }],
    },
  ];
}
