import { objectKey, reconcileFunctionOf, ReconcileFunction } from "@drover/controller";
import { createOrReplace, refOf } from "@drover/kube";
import { startRedis } from "@drover/local-servers";
import { join } from "node:path";
import { startBridge } from "../../bridge/contenders/drover.ts";
import { bundledBridge } from "../../bridge/contenders/shipped-bridge.ts";
import { startAsImage } from "../../bridge/contenders/start-as-image.ts";
import { bundle } from "../../../infra/bundle.ts";
import { onCluster } from "../../peers/peers/on-cluster.ts";
import { atWork } from "../../peers/peers/peer.ts";
import { siteController } from "../controllers/drover/site-controller.ts";
import type { AtWork, Contestant, Ground } from "./contestant.ts";

const namespace = "default";
const { metadata, ...rest } = reconcileFunctionOf(siteController());
const { name } = metadata;
const ref = refOf(ReconcileFunction);
const rfPath = `/apis/${ReconcileFunction.apiVersion}/namespaces/${namespace}/${ref.plural}/${name}`;

/** A bridge and a function, from the bundles of their images, and a Redis that syncs its writes to disk. */
export const drover: Contestant = {
  name: "Drover",
  async prepare() {
    const bridge = await bundledBridge();
    const { file: fn } = await bundle("bench-compose-site", "bench/compose/controllers/drover/main.ts");
    return (ground) => start(ground, bridge, fn);
  },
};

async function start({ stage, folder, workers }: Ground, bridge: string, fn: string): Promise<AtWork> {
  const { kubeconfig } = stage.cluster;
  const redis = await startRedis({ persistence: true });
  await onCluster(kubeconfig, async (client) => {
    await createOrReplace(client, ref, { ...rest, metadata: { name, namespace } });
  });
  const runsFile = join(folder, "runs");
  const [bridging, running] = await Promise.all([
    startBridge({ kubeconfig, redisUrl: redis.url, main: bridge, logFile: join(folder, "bridge.log") }),
    startAsImage({
      name: "function",
      main: fn,
      logFile: join(folder, "function.log"),
      env: {
        DROVER_KUBECONFIG: kubeconfig,
        DROVER_REDIS_URL: redis.url,
        DROVER_FUNCTION: `${namespace}/${name}`,
        DROVER_CONCURRENCY: String(workers),
        DROVER_RUNS_FILE: runsFile,
      },
    }),
  ]);
  const both = atWork([{ ...bridging.process, name: "bridge" }, running], []);
  let campaigns = 0;
  return {
    ...both,
    pids: { ...both.pids, Redis: redis.pid },
    runsFile,
    resync: () =>
      stage.api.send("PATCH", rfPath, {
        type: "application/merge-patch+json",
        content: { spec: { campaign: { name: `again-${++campaigns}`, perSecond: 10_000 } } },
      }),
    async stop() {
      await both.stop();
      await onCluster(kubeconfig, async (client) => {
        await client.delete(ref, objectKey({ namespace, name }));
      });
      await redis.stop();
    },
  };
}
