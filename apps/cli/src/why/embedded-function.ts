import { objectKey, ReconcileFunction } from "@drover/controller";
import { builtin, isApiError, type KubeClient, servedBy } from "@drover/kube";
import { hasWorkQueue, type RedisConnection } from "@drover/queue";
import type { DeployedFunction } from "../deployed-functions.ts";

/**
 * A function with a bridge in its process, by its controller's name, `plural.group`. No ReconcileFunction tells of it; that
 * there is one says the queue of that name, and what it is for the kind's CRD.
 *
 * @returns undefined where there is no such kind, or nobody has ever woken anything of it.
 */
export async function embeddedFunction(
  { client, redis }: { readonly client: KubeClient; readonly redis: RedisConnection },
  controller: string,
): Promise<DeployedFunction | undefined> {
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(controller) || !(await hasWorkQueue(redis, controller)))
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
  return { key: controller, namespace: "", name: controller, object: crd, spec, status: {} };
}
