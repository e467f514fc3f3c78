import { gatewayRules } from "@drover/controller";
import { type Manifest } from "../../harness/manifests.ts";
import { boundRole } from "../../harness/rbac.ts";

/**
 * What the deployer makes for a function that is called, where there is none: the rights of its ServiceAccount, as which the
 * gateway acts. The sandbox knows no rights.
 */
export function calledAccount(
  name: string,
  kind: { readonly group: string; readonly plural: string },
): readonly Manifest[] {
  const account = { kind: "ServiceAccount", name, namespace: "default" } as const;
  return boundRole({ name: `called-${name}` }, gatewayRules(kind), account);
}
