import { type RedisServer, startRedis } from "@drover/local-servers";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { Redis } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import { type DirectApi, openDirectApi } from "./direct-api.ts";
import { type Kind, laneKind, namespaces, widgetListSchema } from "./kind.ts";

/** The servers of all schedules: one API server and one Redis, with a lane for each schedule at a time. */
export interface TestServers {
  readonly api: DirectApi;
  /** Leads straight to the API server. */
  readonly kubeconfig: string;
  readonly lanes: readonly Lane[];
  close(): Promise<void>;
}

/** A kind and a database for one schedule at a time. */
export interface Lane {
  readonly kind: Kind;
  readonly redisUrl: string;
  /** Nothing is left of the schedule before. */
  clean(): Promise<void>;
}

/** Starts them. The first time the API server is built, for minutes. */
export async function startTestServers(lanes: number): Promise<TestServers> {
  const [cluster, redis] = await Promise.all([
    startRealCluster({ log: (line) => void process.stderr.write(`${line}\n`) }),
    startRedis({ persistence: false, args: ["--databases", String(lanes + 1)] }),
  ]);
  const api = openDirectApi(cluster.kubeconfig);
  const close = closer(cluster, redis, api);
  try {
    const [, chaos] = namespaces;
    await api.demand("POST", "/api/v1/namespaces", { metadata: { name: chaos } });
    const open = (_: unknown, lane: number) => openLane(api, laneKind(lane), `${redis.url}/${lane + 1}`);
    const opened = await Promise.all(Array.from({ length: lanes }, open));
    return { api, kubeconfig: cluster.kubeconfig, lanes: opened, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const closer = (cluster: RealCluster, redis: RedisServer, api: DirectApi) => async (): Promise<void> => {
  api.close();
  await Promise.all([cluster.stop(), redis.stop()]);
};

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async function openLane(api: DirectApi, kind: Kind, redisUrl: string): Promise<Lane> {
  await api.demand("POST", crds, kind.crd);
  // Served for good: the kind answers 404 or 429 for a moment.
  while ((await api.ask("GET", kind.path)).status !== 200) await delay(100);
  return {
    kind,
    redisUrl,
    async clean() {
      const { items } = widgetListSchema.parse(await api.demand("GET", kind.path));
      for (const { metadata } of items) {
        const path = kind.pathOf(`${metadata.namespace}/${metadata.name}`);
        if (metadata.finalizers !== undefined)
          await api.ask("PATCH", path, { metadata: { finalizers: null } });
        await api.ask("DELETE", path);
      }
      const redis = new Redis(redisUrl);
      await redis.flushdb();
      redis.disconnect();
    },
  };
}
