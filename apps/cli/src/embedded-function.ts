import { objectKey, queueOf, ReconcileFunction } from "@drover/controller";
import { builtin, isApiError, type KubeClient, servedBy } from "@drover/kube";
import { hasWorkQueue, type RedisConnection } from "@drover/queue";
import { CommandError } from "./command-error.ts";
import type { DeployedFunction } from "./deployed-functions.ts";

interface Servers {
  readonly client: KubeClient;
  readonly redis: RedisConnection;
}

/** For where no ReconcileFunction of that name was found: the function with a bridge in its process, if there is one. */
export const orEmbedded =
  (servers: Servers, controller: string) =>
  async (error: unknown): Promise<DeployedFunction> => {
    const embedded = error instanceof CommandError && (await embeddedFunction(servers, controller));
    if (embedded) return embedded;
    throw error;
  };

/**
 * A function with a bridge in its process, by its controller's name, `plural.group`. No ReconcileFunction tells of it; that
 * there is one says the queue of that name, and what it is for the kind's CRD.
 *
 * @returns undefined where there is no such kind, or nobody has ever woken anything of it.
 */
async function embeddedFunction(
  { client, redis }: Servers,
  controller: string,
): Promise<DeployedFunction | undefined> {
  const identity = { name: controller };
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(controller) || !(await hasWorkQueue(redis, queueOf(identity))))
    return undefined;
  const crd = await client.get(builtin.crd, objectKey({ name: controller })).catch((error: unknown) => {
    if (isApiError(error, "Forbidden")) return undefined;
    throw error;
  });
  const served = crd === undefined ? undefined : servedBy(crd);
  if (crd === undefined || served === undefined) return undefined;
  const { namespaced, ...kind } = served;
  const spec = ReconcileFunction.spec.parse({
    for: { ...kind, scope: namespaced ? "Namespaced" : "Cluster" },
  });
  return { key: controller, namespace: "", name: controller, identity, object: crd, spec, status: {} };
}
