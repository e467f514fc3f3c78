import {
  type ReconcileFunctionSpec,
  rulesOfCalled,
  serviceNameOf,
  webhookSecretOf,
} from "@drover/controller";
import { boundRole, ruleFor } from "./bound-role.ts";
import type { FunctionObject } from "../objects/function-object.ts";
import { type FunctionRef, ownedMetadata, type ServiceAccountRef } from "../function-ref.ts";
import { scopedRoles } from "./scoped-roles.ts";

/**
 * The name of the Roles, ClusterRoles and bindings that let a called function act on objects of its kind `for`, and on
 * their children.
 */
export const calledRoleName = ({ namespace, name }: FunctionRef): string =>
  `drover-called:${namespace}:${name}`;

/** The name of the gateway's Role in the function's namespace, and of its binding. */
const gatewayRoleName = ({ name }: FunctionRef): string => `${name}-gateway`;

/** The names of all roles that calling a function needs. */
export const calledRoleNames = (functionRef: FunctionRef): readonly string[] => [
  calledRoleName(functionRef),
  gatewayRoleName(functionRef),
];

/**
 * The roles that calling a function needs. The gateway has no permissions on objects. It reads and writes those of a
 * function as the function's ServiceAccount, with permissions for which the author was reviewed, and the audit log
 * names that account. Its own Role lets the gateway impersonate this account, read the secret that signs calls, and
 * read the Service.
 */
export function gatewayRoles(
  functionRef: FunctionRef,
  spec: ReconcileFunctionSpec,
  gateway: ServiceAccountRef,
): readonly FunctionObject[] {
  const called = rulesOfCalled(spec);
  const service = spec.webhook?.service?.name ?? serviceNameOf(functionRef.name);
  return [
    ...scopedRoles(
      functionRef,
      called.map(({ kind }) => kind),
      {
        name: calledRoleName(functionRef),
        account: functionRef,
        rulesFor: (kinds) => called.filter(({ kind }) => kinds.includes(kind)).flatMap(({ rules }) => rules),
      },
    ),
    ...boundRole(
      { name: gatewayRoleName(functionRef), ...ownedMetadata(functionRef) },
      [
        ruleFor("impersonate", "serviceaccounts", functionRef.name),
        ruleFor("get", "secrets", webhookSecretOf(functionRef.name)),
        ruleFor("get", "services", service),
      ],
      gateway,
      { wanted: true, reviewed: false },
    ),
  ];
}
