import { calledRules, type ReconcileFunctionSpec, serviceNameOf, webhookSecretOf } from "@drover/controller";
import { boundRole, ruleFor } from "./bound-role.ts";
import type { FunctionObject } from "./function-objects.ts";
import { type Home, ownedBy, type PartAccount } from "./home.ts";
import { placedRoles } from "./placed-roles.ts";

/** The name of the Roles, ClusterRoles and bindings that let a called function act on objects of its kind `for`. */
export const calledRoleOf = ({ namespace, name }: Home): string => `drover-called:${namespace}:${name}`;

/** The name of the gateway's Role in the function's namespace, and of its binding. */
const gatewayRoleOf = ({ name }: Home): string => `${name}-gateway`;

/** The names of all roles that calling a function needs. */
export const calledRolesOf = (home: Home): readonly string[] => [calledRoleOf(home), gatewayRoleOf(home)];

/**
 * The roles that calling a function needs. The gateway has no permissions on objects. It reads and writes those of a
 * function as the function's ServiceAccount, with permissions for which the author was reviewed, and the audit log
 * names that account. Its own Role lets the gateway impersonate this account, read the secret that signs calls, and
 * read the Service.
 */
export function gatewayRoles(
  home: Home,
  spec: ReconcileFunctionSpec,
  gateway: PartAccount,
): readonly FunctionObject[] {
  const service = spec.webhook?.service?.name ?? serviceNameOf(home.name);
  return [
    ...placedRoles(home, [spec.for], {
      name: calledRoleOf(home),
      account: home,
      rulesFor: (kinds) => kinds.flatMap(calledRules),
    }),
    ...boundRole(
      { name: gatewayRoleOf(home), ...ownedBy(home) },
      [
        ruleFor("impersonate", "serviceaccounts", home.name),
        ruleFor("get", "secrets", webhookSecretOf(home.name)),
        ruleFor("get", "services", service),
      ],
      gateway,
      { wanted: true, reviewed: false },
    ),
  ];
}
