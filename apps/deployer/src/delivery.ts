import {
  readyCondition,
  ReconcileFunction,
  type ReconcileFunctionSpec,
  webhookSecretOf,
} from "@drover/controller";
import { builtin } from "@drover/kube";
import { calledRoleNames } from "./roles/gateway-roles.ts";
import { deleteOwnedObject } from "./objects/apply-object.ts";
import { redisSecretName } from "./names.ts";
import { deleteStaleRoles } from "./roles/stale-roles.ts";
import type { DeployRunContext } from "./run-context.ts";

/** How a function gets its keys, if that takes a Redis user (`pull`) or roles for the gateway (`webhook`). */
type Delivery = NonNullable<DeployRunContext["context"]["status"]["delivered"]>;

const deliveryOf = ({ delivery = "pull", container }: ReconcileFunctionSpec): Delivery | undefined =>
  delivery === "webhook" || container !== undefined ? delivery : undefined;

/**
 * If the spec has changed how the function gets its keys, deletes what the former way needed, once no Pod needs it.
 *
 * @param hasNoOldPods true if no Pod of an older revision is left.
 * @returns the delivery in place now, for the status.
 */
export async function removeOldDelivery(
  runContext: DeployRunContext,
  hasNoOldPods: boolean,
): Promise<Delivery | undefined> {
  const { spec, status } = runContext.context;
  const { delivered: had } = status;
  const wanted = deliveryOf(spec);
  if (had === undefined || had === wanted) return wanted;
  if (!hasNoOldPods) return had;
  await removeDelivery(runContext, had);
  return wanted;
}

/**
 * The result that records a function's first delivery in the status, before anything is created for it. Undefined if
 * the status has a delivery, or if the function needs none.
 */
export function recordFirstDelivery({ spec, status }: DeployRunContext["context"]) {
  const delivered = deliveryOf(spec);
  if (delivered === undefined || status.delivered !== undefined) return undefined;
  // Drops conditions and observedGeneration, which the runtime writes.
  const known = ReconcileFunction.status.parse(status);
  const message = "Its accounts, roles and secrets are made next.";
  return {
    status: { ...known, delivered },
    conditions: [{ type: readyCondition, status: "False" as const, reason: "Deploying", message }],
    requeueAfter: "1ms",
  };
}

async function removeDelivery(runContext: DeployRunContext, delivered: Delivery): Promise<void> {
  if (delivered === "webhook") await deleteStaleRoles(runContext, calledRoleNames(runContext.functionRef));
  await removeDeliveryCredentials(runContext, delivered);
}

/**
 * Deletes the Redis user and the Secrets of both deliveries, before a function is gone. Its status does not prove which
 * of them it had, because other users can write it. All of them are named by the function's identity or owned by it, so
 * nothing of another function is deleted.
 */
export async function removeCredentials(runContext: DeployRunContext): Promise<void> {
  for (const delivered of ["pull", "webhook"] as const)
    await removeDeliveryCredentials(runContext, delivered);
}

async function removeDeliveryCredentials(
  { context, functionRef, client, functionUsers }: DeployRunContext,
  delivered: Delivery,
): Promise<void> {
  if (delivered === "pull") await functionUsers.revoke(functionRef);
  const name = delivered === "pull" ? redisSecretName(functionRef.name) : webhookSecretOf(functionRef.name);
  const options = { client, signal: context.signal, owner: functionRef };
  await deleteOwnedObject(options, builtin.secret, { metadata: { name, namespace: functionRef.namespace } });
}
