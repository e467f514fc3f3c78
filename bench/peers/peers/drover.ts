import { startRedis } from "@drover/local-servers";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startBridge } from "../../bridge/contenders/drover.ts";
import { bundledBridge, imageNodeOptions } from "../../bridge/contenders/shipped-bridge.ts";
import { startProcess } from "../../bridge/contenders/start-process.ts";
import { bundle } from "../../../infra/bundle.ts";
import { group } from "../cluster/gauges.ts";
import { endOf, type Peer, runsOf, workers } from "./peer.ts";

const declared = {
  apiVersion: "drover.dev/v1alpha1",
  kind: "ReconcileFunction",
  metadata: { name: `gauges.${group}` },
  spec: { for: { group, version: "v1", kind: "Gauge", plural: "gauges", scope: "Namespaced" } },
};

/** Bridge, Redis that syncs what it hears to its disk, and a process that takes keys; the bundles that images have. */
export const drover: Peer = {
  name: "Drover",
  async prepare() {
    const bridgeFile = await bundledBridge();
    const { file } = await bundle("bench-gauge", "bench/peers/controllers/drover/main.ts");
    return async ({ kubeconfig, folder }) => {
      const redis = await startRedis({ persistence: true });
      const functions = join(folder, "gauge.yaml");
      await writeFile(functions, JSON.stringify(declared));
      const runsFile = join(folder, "Drover.runs");
      return {
        beside: { Redis: redis.pid },
        async start() {
          const [bridge, worker] = await Promise.all([
            startBridge({
              ...{ kubeconfig, functions, redisUrl: redis.url, main: bridgeFile },
              logFile: join(folder, "bridge.log"),
            }),
            startProcess({
              ...{ name: "worker", command: process.execPath, args: [file] },
              logFile: join(folder, "worker.log"),
              env: {
                ...{ DROVER_KUBECONFIG: kubeconfig, DROVER_REDIS_URL: redis.url },
                ...{ DROVER_CONCURRENCY: String(workers), DROVER_RUNS_FILE: runsFile },
                NODE_OPTIONS: imageNodeOptions(),
              },
            }),
          ]);
          return {
            startedAt: Math.min(bridge.process.startedAt, worker.startedAt),
            pids: { controller: worker.pid, bridge: bridge.process.pid },
            died: endOf([bridge.process, worker]),
            stop: () => runsOf([bridge.process, worker], runsFile),
          };
        },
        close: () => redis.stop(),
      };
    };
  },
};
