import {
  type Access,
  type Controller,
  type DeployableFunction,
  gatewayAccess,
  grantedPermissions,
  isGranted,
  permittedAccess,
  type ReconcileFunctionSpec,
} from "@drover/controller";
import type { ProxiedCall } from "./fault-proxy/index.ts";
import { statusObject } from "./fault-proxy/responses/wrong-responses.ts";

/** A function called the API server for something that its ServiceAccount may not do. */
export class MissingPermissionError extends Error {
  override readonly name = "MissingPermissionError";
}

/** @throws MissingPermissionError where anything is missing. */
export function throwIfMissing(missing: readonly string[]): void {
  if (missing.length > 0) throw new MissingPermissionError(missing.join("\n"));
}

/** `deployedAs` is the definition of a controller that is not tested. */
export class UnknownDeploymentError extends Error {
  override readonly name = "UnknownDeploymentError";
}

/** How functions are deployed, which determines their permissions. */
export type DeployedAs = DeployableFunction | readonly DeployableFunction[];

/** Checks calls against the permissions of the function's ServiceAccount. */
export interface Rights {
  /** The API server's Status if the call is refused; records the missing permission. */
  refusalOf(call: ProxiedCall): object | undefined;
  /** The missing permissions so far, each with its remedy. */
  missing(): readonly string[];
}

export interface RightsOptions {
  readonly controllers: readonly Controller[];
  readonly deployedAs?: DeployedAs | undefined;
  /** The spec of a function that is called: its account has what the gateway needs for it. */
  readonly called?: ReconcileFunctionSpec | undefined;
  /** The controller of the run in progress; calls outside of runs need the permission of any controller. */
  readonly running: () => string | undefined;
}

/**
 * The permissions of each controller's ServiceAccount: those that `drover generate` writes and the deployer grants, and those
 * of every ServiceAccount. A controller without a definition has those that follow from its code.
 *
 * @throws UnknownDeploymentError for a definition of another controller.
 */
export function rightsOf({ controllers, deployedAs = [], called, running }: RightsOptions): Rights {
  const definitions = [deployedAs].flat();
  const names = controllers.map(({ name }) => name);
  const unknown = definitions.find(({ controller }) => !names.includes(controller.name));
  if (unknown !== undefined) {
    throw new UnknownDeploymentError(
      `deployedAs is the definition of ${unknown.controller.name}, and the test runs ${names.join(", ")}. Give those ` +
        "definitions, from src/function.ts.",
    );
  }
  const accounts = controllers.map((controller): Account => {
    const definition = definitions.find((one) => one.controller.name === controller.name);
    if (called !== undefined)
      return { controller, definition, granted: gatewayAccess(called), isCalled: true };
    const permissions = grantedPermissions(definition ?? { controller });
    const granted = permittedAccess(permissions, definition?.namespace ?? defaultNamespace);
    return { controller, definition, granted, isCalled: false };
  });
  const missing = new Set<string>();
  return {
    refusalOf(call) {
      const [account, ...others] = accounts.filter(
        ({ controller: { name } }) => name === (running() ?? name),
      );
      if (account === undefined || [account, ...others].some((one) => mayCall(one, call))) return undefined;
      missing.add(adviceFor(account, call));
      return forbidden(account, call);
    },
    missing: () => [...missing],
  };
}

interface Account {
  readonly controller: Controller;
  /** Undefined if only the controller is known. */
  readonly definition: DeployableFunction | undefined;
  readonly granted: readonly Access[];
  readonly isCalled: boolean;
}

/** The namespace of a function without one in its definition. */
const defaultNamespace = "default";

const mayCall = ({ granted }: Account, call: ProxiedCall): boolean =>
  call.resource === ""
    ? call.method === "GET" && discovery.test(call.path)
    : isGranted(accessOf(call), [...granted, ...everyServiceAccount]);

/** Every ServiceAccount may use discovery (ClusterRole `system:discovery`) ... */
const discovery = /^\/(apis?|openapi|version|healthz|livez|readyz)(\/|$)/;
/** ... and review its own permissions (`system:basic-user`). */
const everyServiceAccount: readonly Access[] = [
  { verb: "create", group: "authorization.k8s.io", resource: "selfsubjectaccessreviews" },
  { verb: "create", group: "authorization.k8s.io", resource: "selfsubjectrulesreviews" },
  { verb: "create", group: "authentication.k8s.io", resource: "selfsubjectreviews" },
];

function accessOf({ verb, resource: named, subresource, namespace, name }: ProxiedCall): Access {
  const [resource = "", ...group] = named.split(".");
  return {
    verb,
    group: group.join("."),
    resource,
    name,
    subresource: subresource === "" ? undefined : subresource,
    namespace: namespace === "" ? undefined : namespace,
  };
}

/** The message of k8s.io/apiserver (handlers/responsewriters, `forbiddenMessage`). */
function forbidden({ controller, definition }: Account, call: ProxiedCall): object {
  const accountNamespace = definition?.namespace ?? defaultNamespace;
  const user = `User "system:serviceaccount:${accountNamespace}:${controller.name}"`;
  if (call.resource === "") {
    const verb = call.method.toLowerCase();
    return statusObject(403, `forbidden: ${user} cannot ${verb} path "${call.path}"`, {});
  }
  const { verb, group, resource, subresource, namespace, name = "" } = accessOf(call);
  const what = [resource, subresource].filter(Boolean).join("/");
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const which = name === "" ? "" : ` "${name}"`;
  return statusObject(
    403,
    `${call.resource}${which} is forbidden: ${user} cannot ${verb} resource "${what}" in API group "${group}" ${where}`,
    { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: resource },
  );
}

/** The missing permission of a refused call, and its remedy. */
function adviceFor({ controller, definition, isCalled }: Account, call: ProxiedCall): string {
  const { name } = controller;
  if (call.resource === "")
    return `${name} may not call ${call.method} ${call.path}: no permission allows this path. Remove the call.`;
  const { verb, group, resource, subresource, namespace } = accessOf(call);
  const what = [resource, subresource].filter(Boolean).join("/");
  const where = namespace === undefined ? "in all namespaces" : `in namespace ${namespace}`;
  const rule = JSON.stringify({ apiGroups: [group], resources: [what], verbs: [verb] });
  const refused = `${name} may not ${verb} ${what}${group === "" ? "" : ` of ${group}`} ${where}: in a cluster the API server answers 403.`;
  if (isCalled)
    return `${refused} Its permissions follow from \`for\`, \`owns\` and \`watches\` of its ReconcileFunction: correct these.`;
  const place = namespace !== undefined && namespace === definition?.namespace ? "namespace" : "cluster";
  return (
    `${refused} Add ${rule} to deployment.permissions.${place} of its defineFunction (src/function.ts)${otherWay(controller, call)}. ` +
    (definition === undefined
      ? "Then give the test what that module exports: deployedAs."
      : "Then run: npx drover generate.")
  );
}

/** Another way to get the permission, without a rule. */
function otherWay({ for: own }: Controller, { resource, subresource, verb, name }: ProxiedCall): string {
  if (resource === "secrets" && verb === "get") return `, or ${JSON.stringify(name)} to its readsSecrets`;
  const isOwn = resource === [own.plural, own.group].filter(Boolean).join(".");
  return isOwn || subresource !== ""
    ? ""
    : ", or name the kind in `owns` where the controller makes its objects";
}
