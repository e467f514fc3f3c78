import { startRedis } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startBridge } from "../../bridge/contenders/drover.ts";
import { bundledBridge, imageNodeOptions } from "../../bridge/contenders/shipped-bridge.ts";
import { type Started, startProcess } from "../../bridge/contenders/start-process.ts";
import { bundle } from "../../../infra/bundle.ts";
import { group } from "../cluster/gauges.ts";
import { endOf, type Ground, killAll, type Peer, runsOf } from "./peer.ts";

/** What it is to the bridge, and to the gateway where it is called. */
export const declared = (copies: boolean) => ({
  apiVersion: "drover.dev/v1alpha1",
  kind: "ReconcileFunction",
  metadata: { name: `gauges.${group}` },
  spec: {
    for: { group, version: "v1", kind: "Gauge", plural: "gauges", scope: "Namespaced" as const },
    copies,
  },
});

/** Those who do the work that the bridge tells of, on one stage. */
export interface Workers {
  /** In the order in which they are to end. */
  start(): Promise<readonly Started[]>;
  /** Where they write down how often they ran. */
  readonly runsFiles: readonly string[];
  close(): Promise<void>;
}

export interface WorkingGround extends Ground {
  readonly redisUrl: string;
}

interface How {
  readonly name: string;
  /** Runs are given copies of changed objects; else they read live. */
  readonly copies: boolean;
  /** Builds what is missing. */
  readonly prepare: () => Promise<(ground: WorkingGround) => Workers | Promise<Workers>>;
}

/** Bridge, Redis that syncs what it hears to its disk, and whoever does the work; the bundles that images have. */
export const droverWith = ({ name, copies, prepare }: How): Peer => ({
  name,
  async prepare() {
    const main = await bundledBridge();
    const workersOn = await prepare();
    return async (ground) => {
      const { kubeconfig, folder } = ground;
      const redis = await startRedis({ persistence: true });
      const functions = join(folder, "gauge.yaml");
      await writeFile(functions, JSON.stringify(declared(copies)));
      const workers = await workersOn({ ...ground, redisUrl: redis.url });
      const bridgeOptions = { kubeconfig, functions, redisUrl: redis.url, main };
      return {
        beside: { Redis: redis.pid },
        async start() {
          const [bridge, started] = await Promise.all([
            startBridge({ ...bridgeOptions, logFile: join(folder, "bridge.log") }),
            workers.start(),
          ]);
          const all = [bridge.process, ...started];
          return {
            startedAt: Math.min(...all.map(({ startedAt }) => startedAt)),
            pids: {
              ...Object.fromEntries(started.map(({ pid, name }) => [name, pid])),
              bridge: bridge.process.pid,
            },
            died: endOf(all),
            kill: () => killAll(all),
            stop: () => runsOf(all, workers.runsFiles),
          };
        },
        async close() {
          await workers.close();
          await redis.stop();
        },
      };
    };
  },
});

/** Processes that take keys from Redis. */
const pulling = ({ name, processes, copies }: Omit<How, "prepare"> & { readonly processes: number }): Peer =>
  droverWith({
    ...{ name, copies },
    async prepare() {
      const { file } = await bundle("bench-gauge", "bench/peers/controllers/drover/main.ts");
      const ids = Array.from({ length: processes }, (_, i) =>
        i === 0 ? "controller" : `controller ${i + 1}`,
      );
      return ({ kubeconfig, redisUrl, folder, workers, workMs }) => {
        const runsFileOf = (id: string): string => join(folder, `${id}.runs`);
        const startWorker = (id: string): Promise<Started> =>
          startProcess({
            ...{ name: id, command: process.execPath, args: [file], logFile: join(folder, `${id}.log`) },
            env: {
              ...{ DROVER_KUBECONFIG: kubeconfig, DROVER_REDIS_URL: redisUrl },
              ...{ DROVER_CONCURRENCY: String(workers), DROVER_WORK_MS: String(workMs) },
              ...{ DROVER_RUNS_FILE: runsFileOf(id), DROVER_COPIES: String(copies) },
              NODE_OPTIONS: imageNodeOptions(),
            },
          });
        return {
          start: () => Promise.all(ids.map(startWorker)),
          runsFiles: ids.map(runsFileOf),
          close: () => Promise.resolve(),
        };
      };
    },
  });

export const drover = pulling({ name: "Drover", processes: 1, copies: true });
export const readingLive = pulling({ name: "Drover, reading live", processes: 1, copies: false });
/** Slow work is spread over more processes. */
export const spreadOut = [2, 4].map((processes) =>
  pulling({ name: `Drover, ${processes} processes`, processes, copies: true }),
);
