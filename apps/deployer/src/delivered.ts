import { ready, ReconcileFunction, type ReconcileFunctionSpec, webhookSecretOf } from "@drover/controller";
import { builtin } from "@drover/kube";
import { calledRolesOf } from "./gateway-roles.ts";
import { dropObject } from "./keep-object.ts";
import { redisSecretOf } from "./names.ts";
import { dropStaleRoles } from "./stale-roles.ts";
import type { Step } from "./step.ts";

/** How a function comes by its keys, as far as that takes a user of Redis, or roles of the gateway. */
type Delivered = NonNullable<Step["context"]["status"]["delivered"]>;

const deliveredAs = ({ delivery = "pull", container }: ReconcileFunctionSpec): Delivered | undefined =>
  delivery === "webhook" || container !== undefined ? delivery : undefined;

/**
 * A function that comes by its keys in another way than it did: what it needed for that goes, when the last Pod of that
 * time has gone.
 *
 * @returns what there is now, for its status.
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

/** Before anything is made for the first delivery of a function: that it is about to be. Undefined: that is known. */
export function announcedDelivery({ spec, status }: Step["context"]) {
  const delivered = deliveredAs(spec);
  if (delivered === undefined || status.delivered !== undefined) return undefined;
  // Without what is written for us.
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
 * Before a function is gone: whatever it may have needed, for its status, which others can write, does not say what it had.
 * All of it is named by the function's identity or owned by it, so nothing of another function is touched.
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
