import {
  type Access,
  bridgeAccess,
  describeAccess,
  gatewayAccess,
  type ObjectKey,
  permittedAccess,
  ReconcileFunction,
  type ReconcileFunctionSpec,
} from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { CommandError } from "../../command-error.ts";
import { missingAccess } from "../../deploy/check-permissions.ts";

export interface FunctionPlace {
  /** The namespace that the function belongs to. */
  readonly namespace: string;
  /** The Deployment of a function with a bridge in its process. */
  readonly embedded: ObjectKey | undefined;
}

/**
 * Checks that the user of a kubeconfig may do everything that a session does in the cluster: what the function and the
 * bridge do, and to set and remove labels.
 *
 * @param spec with the namespaces that the session is restricted to.
 * @throws CommandError listing all missing permissions.
 */
export async function checkSessionAccess(
  client: KubeClient,
  spec: ReconcileFunctionSpec,
  { namespace, embedded }: FunctionPlace,
): Promise<void> {
  const { namespaces } = spec.for;
  const within = (access: Access): readonly Access[] =>
    access.namespace !== undefined || namespaces === undefined
      ? [access]
      : namespaces.map((one) => ({ ...access, namespace: one }));
  const { group, plural: resource } = spec.for;
  const denied = await missingAccess(client, [
    { verb: "list", group: ReconcileFunction.group, resource: ReconcileFunction.plural },
    ...deploymentAccess(embedded),
    ...bridgeAccess(spec),
    ...["get", "patch"].flatMap((verb) => within({ verb, group, resource })),
    ...permittedAccess(spec.permissions ?? {}, namespace),
    ...gatewayAccess(spec),
  ]);
  const missing = await stillMissing(client, denied, within);
  if (missing.length === 0) return;
  throw new CommandError(
    "The user of this kubeconfig does not have all permissions that the function needs:\n" +
      missing.map((access) => `  - ${describeAccess(access)}\n`).join("") +
      "Get these permissions, restrict the session with --namespace, or let the function ask for less.",
  );
}

function deploymentAccess(embedded: ObjectKey | undefined): readonly Access[] {
  const [namespace, name] = embedded?.split("/") ?? [];
  return name === undefined ? [] : [{ namespace, verb: "get", group: "apps", resource: "deployments", name }];
}

/** Leaves out a permission that is missing in the whole cluster, if the user has it in each namespace of the session. */
async function stillMissing(
  client: KubeClient,
  denied: readonly Access[],
  within: (access: Access) => readonly Access[],
): Promise<readonly Access[]> {
  return missingAccess(client, [
    ...new Map(denied.flatMap(within).map((access) => [describeAccess(access), access])).values(),
  ]);
}
