import { calledRules, type ReconcileFunctionSpec, serviceNameOf, webhookSecretOf } from "@drover/controller";
import { boundRole, ruleFor } from "./bound-role.ts";
import type { FunctionObject } from "./function-objects.ts";
import { type Home, ownedBy, type PartAccount } from "./home.ts";
import { placedRoles } from "./placed-roles.ts";

/** The name of all Roles, ClusterRoles and bindings that let a function that is called act on the objects that it is for. */
export const calledRoleOf = ({ namespace, name }: Home): string => `drover-called:${namespace}:${name}`;

/** The name of the Role, and of its binding, that the gateway has for a function beside that function. */
const gatewayRoleOf = ({ name }: Home): string => `${name}-gateway`;

/** The names of all that calling a function takes. */
export const calledRolesOf = (home: Home): readonly string[] => [calledRoleOf(home), gatewayRoleOf(home)];

/**
 * What calling a function takes. The gateway has no rights on objects: it reads and writes those of a function as the
 * function's ServiceAccount, by rights that the author was reviewed for, and the audit log names that account. Of its own
 * it may act as this account, read the secret that calls are signed with, and look up the Service.
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
