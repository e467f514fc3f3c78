import { objectKey, queueOf, ReconcileFunction } from "@drover/controller";
import { builtin, isApiError, establishedRefOf } from "@drover/kube";
import { hasWorkQueue } from "@drover/queue";
import { CommandError } from "./command-error.ts";
import type { DeployedFunction } from "./deployed-functions.ts";
import type { CommandServers } from "./command-servers.ts";

/**
 * For use when no ReconcileFunction of that name was found: returns the embedded function, with a bridge in its
 * process, if there is one.
 */
export const orEmbedded =
  (servers: CommandServers, controller: string) =>
  async (error: unknown): Promise<DeployedFunction> => {
    const embedded = error instanceof CommandError && (await embeddedFunction(servers, controller));
    if (embedded) return embedded;
    throw error;
  };

/**
 * An embedded function by its controller's name, `plural.group`. It has no ReconcileFunction: its queue shows that it
 * exists, and the kind's CRD provides its spec.
 *
 * @returns undefined if no such kind exists, or no key of it has ever been woken.
 */
async function embeddedFunction(
  { client, redis }: CommandServers,
  controller: string,
): Promise<DeployedFunction | undefined> {
  const identity = { name: controller };
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(controller) || !(await hasWorkQueue(redis, queueOf(identity))))
    return undefined;
  const crd = await client.get(builtin.crd, objectKey({ name: controller })).catch((error: unknown) => {
    if (isApiError(error, "Forbidden")) return undefined;
    throw error;
  });
  const served = crd === undefined ? undefined : establishedRefOf(crd);
  if (crd === undefined || served === undefined) return undefined;
  const { namespaced, ...kind } = served;
  const spec = ReconcileFunction.spec.parse({
    for: { ...kind, scope: namespaced ? "Namespaced" : "Cluster" },
  });
  return { key: controller, namespace: "", name: controller, identity, object: crd, spec, status: {} };
}
