import { startRedis } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startBridge } from "../../bridge/contenders/drover.ts";
import { bundledBridge, imageNodeOptions } from "../../bridge/contenders/shipped-bridge.ts";
import { type Started, startProcess } from "../../bridge/contenders/start-process.ts";
import { bundle } from "../../../infra/bundle.ts";
import { group } from "../cluster/gauges.ts";
import { endOf, killAll, type Peer, runsOf } from "./peer.ts";

const declared = (copies: boolean) => ({
  apiVersion: "drover.dev/v1alpha1",
  kind: "ReconcileFunction",
  metadata: { name: `gauges.${group}` },
  spec: { for: { group, version: "v1", kind: "Gauge", plural: "gauges", scope: "Namespaced" }, copies },
});

interface How {
  readonly name: string;
  readonly processes: number;
  /** Runs are given copies of changed objects; else they read live. */
  readonly copies: boolean;
}

/** Bridge, Redis that syncs what it hears to its disk, and processes that take keys; the bundles that images have. */
const droverWith = ({ name, processes, copies }: How): Peer => ({
  name,
  async prepare() {
    const bridgeFile = await bundledBridge();
    const { file } = await bundle("bench-gauge", "bench/peers/controllers/drover/main.ts");
    return async ({ kubeconfig, folder, workers, workMs }) => {
      const redis = await startRedis({ persistence: true });
      const functions = join(folder, "gauge.yaml");
      await writeFile(functions, JSON.stringify(declared(copies)));
      const common = { kubeconfig, functions, redisUrl: redis.url };
      const runsFileOf = (id: string): string => join(folder, `${id}.runs`);
      const ids = Array.from({ length: processes }, (_, i) =>
        i === 0 ? "controller" : `controller ${i + 1}`,
      );
      const startWorker = (id: string): Promise<Started> =>
        startProcess({
          ...{ name: id, command: process.execPath, args: [file], logFile: join(folder, `${id}.log`) },
          env: {
            ...{ DROVER_KUBECONFIG: kubeconfig, DROVER_REDIS_URL: redis.url },
            ...{ DROVER_CONCURRENCY: String(workers), DROVER_WORK_MS: String(workMs) },
            ...{ DROVER_RUNS_FILE: runsFileOf(id), DROVER_COPIES: String(copies) },
            NODE_OPTIONS: imageNodeOptions(),
          },
        });
      return {
        beside: { Redis: redis.pid },
        async start() {
          const [bridge, ...started] = await Promise.all([
            startBridge({ ...common, main: bridgeFile, logFile: join(folder, "bridge.log") }),
            ...ids.map(startWorker),
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
            stop: () => runsOf(all, ids.map(runsFileOf)),
          };
        },
        close: () => redis.stop(),
      };
    };
  },
});

export const drover = droverWith({ name: "Drover", processes: 1, copies: true });
export const readingLive = droverWith({ name: "Drover, reading live", processes: 1, copies: false });
/** Slow work is spread over more processes. */
export const spreadOut = [2, 4].map((processes) =>
  droverWith({ name: `Drover, ${processes} processes`, processes, copies: true }),
);
