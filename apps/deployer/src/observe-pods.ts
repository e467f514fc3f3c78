import { builtin, type KubeClient, type KubeObject, listAll } from "@drover/kube";
import { z } from "zod";
import type { Home } from "./home.ts";
import { isControlledBy } from "./keep-object.ts";
import { functionLabel, revisionAnnotation } from "./names.ts";
import type { FunctionPod } from "./roll-out.ts";

const stateSchema = z.looseObject({ reason: z.string().optional(), message: z.string().optional() });
const podSchema = z.looseObject({
  status: z
    .looseObject({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
      containerStatuses: z
        .array(
          z.looseObject({
            restartCount: z.number().optional(),
            state: z.looseObject({ waiting: stateSchema.optional() }).optional(),
            lastState: z
              .looseObject({ terminated: stateSchema.extend({ exitCode: z.number() }).optional() })
              .optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});

/** A Pod as the API server holds it, and why it is not Ready, where it says so. */
export interface ObservedPod extends FunctionPod {
  readonly trouble: string | undefined;
}

/** The function's Pods, read live: what is made or taken away must not go by what was so before. */
export async function observePods(
  client: KubeClient,
  home: Home,
  signal: AbortSignal,
): Promise<readonly ObservedPod[]> {
  const pods = await listAll(client, builtin.pod, {
    namespace: home.namespace,
    labelSelector: `${functionLabel}=${home.name}`,
    signal,
  });
  return pods.filter((pod) => isControlledBy(pod, home.uid)).map(observed);
}

/** A Pod, as it is for the deployer. */
export function observed(pod: KubeObject): ObservedPod {
  const { name, uid, annotations = {}, deletionTimestamp, creationTimestamp = "" } = pod.metadata;
  const { status = {} } = podSchema.safeParse(pod).data ?? {};
  const { phase, conditions = [] } = status;
  return {
    name,
    uid,
    revision: Number(annotations[revisionAnnotation] ?? 0),
    ready: conditions.some((one) => one.type === "Ready" && one.status === "True"),
    deleting: deletionTimestamp !== undefined,
    ended: phase === "Succeeded" || phase === "Failed",
    createdAt: creationTimestamp,
    trouble: troubleOf(status),
  };
}

/** What kubelet says of a container that nothing is wrong with, yet. */
const starting: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

function troubleOf({
  reason,
  message,
  containerStatuses = [],
}: NonNullable<z.output<typeof podSchema>["status"]>): string | undefined {
  const [container] = containerStatuses;
  const { waiting } = container?.state ?? {};
  const isStarting = starting.has(waiting?.reason ?? "");
  const { terminated } = container?.lastState ?? {};
  const words = [
    reason,
    message,
    isStarting ? undefined : waiting?.reason,
    waiting?.message,
    terminated && `its container ended with exit code ${terminated.exitCode}`,
    terminated?.message,
  ].filter((word) => word !== undefined && word !== "");
  return words.length === 0 ? undefined : words.join(": ");
}
