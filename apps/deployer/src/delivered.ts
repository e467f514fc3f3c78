import { ready, ReconcileFunction, type ReconcileFunctionSpec, webhookSecretOf } from "@drover/controller";
import { builtin } from "@drover/kube";
import { calledRolesOf } from "./gateway-roles.ts";
import { dropObject } from "./keep-object.ts";
import { redisSecretOf } from "./names.ts";
import { dropStaleRoles } from "./stale-roles.ts";
import type { Step } from "./step.ts";

/** How a function gets its keys, if that takes a Redis user (`pull`) or roles for the gateway (`webhook`). */
type Delivered = NonNullable<Step["context"]["status"]["delivered"]>;

const deliveredAs = ({ delivery = "pull", container }: ReconcileFunctionSpec): Delivered | undefined =>
  delivery === "webhook" || container !== undefined ? delivery : undefined;

/**
 * If the spec has changed how the function gets its keys, deletes what the former way needed, once no Pod needs it.
 *
 * @param isLeft true if no Pod of an older revision is left.
 * @returns the delivery in place now, for the status.
 */
export async function leaveFormerDelivery(step: Step, isLeft: boolean): Promise<Delivered | undefined> {
  const { spec, status } = step.context;
  const { delivered: had } = status;
  const wanted = deliveredAs(spec);
  if (had === undefined || had === wanted) return wanted;
  if (!isLeft) return had;
  await takeDelivery(step, had);
  return wanted;
}

/**
 * The result that records a function's first delivery in the status, before anything is created for it. Undefined if
 * the status has a delivery, or if the function needs none.
 */
export function announcedDelivery({ spec, status }: Step["context"]) {
  const delivered = deliveredAs(spec);
  if (delivered === undefined || status.delivered !== undefined) return undefined;
  // Drops conditions and observedGeneration, which the runtime writes.
  const known = ReconcileFunction.status.parse(status);
  const message = "Its accounts, roles and secrets are made next.";
  return {
    status: { ...known, delivered },
    conditions: [{ type: ready, status: "False" as const, reason: "Deploying", message }],
    requeueAfter: "1ms",
  };
}

async function takeDelivery(step: Step, delivered: Delivered): Promise<void> {
  if (delivered === "webhook") await dropStaleRoles(step, calledRolesOf(step.home));
  await takeLogin(step, delivered);
}

/**
 * Deletes the Redis user and the Secrets of both deliveries, before a function is gone. Its status does not prove which
 * of them it had, because other users can write it. All of them are named by the function's identity or owned by it, so
 * nothing of another function is deleted.
 */
export async function takeLogins(step: Step): Promise<void> {
  for (const delivered of ["pull", "webhook"] as const) await takeLogin(step, delivered);
}

async function takeLogin({ context, home, client, accounts }: Step, delivered: Delivered): Promise<void> {
  if (delivered === "pull") await accounts.revoke(home);
  const name = delivered === "pull" ? redisSecretOf(home.name) : webhookSecretOf(home.name);
  const keeper = { client, signal: context.signal, owner: home };
  await dropObject(keeper, builtin.secret, { metadata: { name, namespace: home.namespace } });
}
