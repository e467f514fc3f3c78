import { freePort } from "@drover/local-servers";
import { join } from "node:path";
import { startProcess } from "../../bridge/contenders/start-process.ts";
import {
  argsFor,
  declareComposite,
  installed,
  program,
  withdrawComposite,
} from "../../peers/peers/metacontroller.ts";
import { onCluster } from "../../peers/peers/on-cluster.ts";
import { atWork } from "../../peers/peers/peer.ts";
import { sites } from "../sites.ts";
import type { AtWork, Contestant, Ground } from "./contestant.ts";
import { goContestants, goEnvironmentOf } from "./go.ts";

const children = [
  ["v1", "configmaps"],
  ["v1", "serviceaccounts"],
  ["v1", "services"],
  ["apps/v1", "deployments"],
].map(([apiVersion, resource]) => ({ apiVersion, resource, updateStrategy: { method: "InPlace" } }));

/** Metacontroller, which calls a hook in Go for each Site. */
export const metacontroller: Contestant = {
  name: "Metacontroller",
  async prepare(log) {
    await installed();
    const hook = await goContestants(log);
    return (ground) => start(ground, hook);
  },
};

async function start({ stage, folder, workers }: Ground, hook: string): Promise<AtWork> {
  const { kubeconfig } = stage.cluster;
  const address = `127.0.0.1:${await freePort()}`;
  const runsFile = join(folder, "runs");
  const composite = {
    name: "sites",
    spec: {
      generateSelector: true,
      parentResource: { apiVersion: `${sites.group}/v1`, resource: "sites" },
      childResources: children,
      hooks: { sync: { webhook: { url: `http://${address}/sync` } } },
    },
  };
  await onCluster(kubeconfig, (client) => declareComposite(client, composite));
  const begin = (name: string, command: string, args: string[], env: NodeJS.ProcessEnv) =>
    startProcess({ name, command, args, logFile: join(folder, `${name}.log`), env });
  const processes = atWork(
    await Promise.all([
      begin("controller", program, argsFor(workers), { KUBECONFIG: kubeconfig }),
      begin("webhook", hook, ["webhook"], {
        ...goEnvironmentOf(kubeconfig, workers, runsFile),
        BENCH_ADDRESS: address,
      }),
    ]),
    [],
  );
  return {
    ...processes,
    runsFile,
    // It has no means to reconcile all at a given time.
    resync: (keys) => stage.touch(keys),
    async stop() {
      await processes.stop();
      await onCluster(kubeconfig, (client) => withdrawComposite(client, composite.name));
    },
  };
}
