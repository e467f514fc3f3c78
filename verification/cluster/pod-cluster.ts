import { type NodeCluster, startClusterWithNode, type StartOptions } from "@drover/real-cluster";
import { vi } from "vitest";
import { z } from "zod";
import { pushImages } from "../../infra/cluster/push-images.ts";
import type { WantedImage } from "../../infra/cluster/wanted-image.ts";

/** How long a step may take on a slow machine before the test fails. Nothing waits for this time to pass. */
const timeout = 120_000;

/** A cluster with running Pods, as a user of kubectl sees it. */
export interface PodCluster extends NodeCluster {
  /** Creates objects, or changes what is there. */
  apply(...objects: readonly object[]): Promise<void>;
  /** kubectl wait. Rejects with kubectl's error and the objects. */
  wait(condition: string, ...objects: readonly string[]): Promise<void>;
  /** `kubectl get` of one object, parsed by a schema. */
  get<Schema extends z.ZodType>(object: string, schema: Schema): Promise<z.output<Schema>>;
  /** Images that pods may name from now on. */
  push(...images: readonly WantedImage[]): Promise<void>;
}

export const startPodCluster = (...images: readonly WantedImage[]): Promise<PodCluster> =>
  startPodClusterAs({}, ...images);

export async function startPodClusterAs(
  options: StartOptions,
  ...images: readonly WantedImage[]
): Promise<PodCluster> {
  const cluster = await startClusterWithNode({ log: (line) => console.log(line), ...options });
  const push = (...more: readonly WantedImage[]) => pushImages(cluster, more);
  const kubectl: NodeCluster["kubectl"] = (args, options) => cluster.kubectl(args, options);
  try {
    await push(...images);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return {
    ...cluster,
    push,
    async apply(...items) {
      const list = { apiVersion: "v1", kind: "List", items };
      await kubectl(["apply", "-f", "-"], { input: JSON.stringify(list) });
    },
    async wait(condition, ...objects) {
      try {
        await kubectl(["wait", `--for=${condition}`, `--timeout=${timeout}ms`, ...objects]);
      } catch (cause) {
        const seen = await kubectl(["describe", ...objects]).catch(String);
        const pods = await kubectl(["get", "pods", "--all-namespaces"]);
        throw new Error(`${objects.join(", ")}: no ${condition}.\n${seen}\n${pods}`, { cause });
      }
    },
    get: async (object, schema) => schema.parse(JSON.parse(await kubectl(["get", object, "-o", "json"]))),
  };
}

/** A pod that runs a script on Node alone: `of: "node", as: nodeImage`. */
export const nodeImage = "drover-local/node:1";
export const scriptPod = (name: string, script: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name } },
  spec: { containers: [scriptContainer(script)], terminationGracePeriodSeconds: 1, ...spec },
});
export const scriptContainer = (script: string) => ({
  name: "main",
  image: nodeImage,
  command: ["node", "--input-type=module", "-e", script],
});

/** What tests look at of a pod. */
export const podSchema = z.object({
  metadata: z.object({ uid: z.string() }),
  status: z.object({
    phase: z.string(),
    containerStatuses: z
      .array(
        z.object({
          ready: z.boolean(),
          restartCount: z.number(),
          imageID: z.string(),
          state: z.object({
            waiting: z.object({ reason: z.string(), message: z.string().default("") }).optional(),
            terminated: z.object({ exitCode: z.number(), reason: z.string() }).optional(),
          }),
        }),
      )
      .default([]),
  }),
});

/** Ask again until it is so. */
export const eventually = <T>(look: () => Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout, interval: 200 });
