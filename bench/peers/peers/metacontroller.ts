import { createOrReplace, type KubeClient } from "@drover/kube";
import { freePort } from "@drover/local-servers";
import { objectKey } from "@drover/controller";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startProcess } from "../../bridge/contenders/start-process.ts";
import { gauges } from "../cluster/gauges.ts";
import { goPeers } from "./go.ts";
import { installKind, onCluster } from "./on-cluster.ts";
import { atWork, type Peer } from "./peer.ts";

const name = "Metacontroller";
export const program = "metacontroller";

/** Rejects, and says what to do, if it is not on PATH. */
export const installed = (): Promise<unknown> =>
  promisify(execFile)(program, ["--help"]).catch((cause: unknown) => {
    throw new Error(
      `There is no ${program} on PATH (https://metacontroller.app): no package registry has it. Build its newest release, and put it there.`,
      { cause },
    );
  });

/** Metacontroller, which calls a small webhook for each Gauge. It is not built here: it must be on PATH. */
export const metacontroller: Peer = {
  name,
  async prepare(log) {
    await installed();
    const hook = await goPeers(log);
    return async ({ kubeconfig, folder, workers, workMs }) => {
      const address = `127.0.0.1:${await freePort()}`;
      const runsFile = join(folder, `${name}.runs`);
      await onCluster(kubeconfig, (client) => declareComposite(client, gaugesAt(`http://${address}/sync`)));
      const start = (id: string, command: string, args: string[], env: NodeJS.ProcessEnv) =>
        startProcess({
          name: id,
          command,
          args,
          logFile: join(folder, `${id}.log`),
          env: { KUBECONFIG: kubeconfig, ...env },
        });
      return {
        beside: {},
        async start() {
          const all = await Promise.all([
            start("controller", program, argsFor(workers), {}),
            start("webhook", hook, ["webhook"], {
              BENCH_ADDRESS: address,
              BENCH_WORKERS: String(workers),
              BENCH_WORK_MS: String(workMs),
              BENCH_RUNS_FILE: runsFile,
            }),
          ]);
          return atWork(all, [runsFile]);
        },
        close: () => onCluster(kubeconfig, (client) => withdrawComposite(client, "gauges")),
      };
    };
  },
};

/** Its usual settings, but for as many workers as the others have, no limit of requests, and ports of this machine alone. */
export const argsFor = (workers: number): string[] => [
  ...[`--workers=${workers}`, "--client-go-qps=100000", "--client-go-burst=100000"],
  ...["--metrics-address=127.0.0.1:0", "--health-probe-bind-address=0"],
];

const own = "metacontroller.k8s.io";
const composite = {
  group: own,
  version: "v1alpha1",
  plural: "compositecontrollers",
  kind: "CompositeController",
  namespaced: false,
};
const kinds = [
  composite,
  { ...composite, plural: "decoratorcontrollers", kind: "DecoratorController" },
  { ...composite, plural: "controllerrevisions", kind: "ControllerRevision", namespaced: true },
];

const gaugesAt = (url: string): Composite => ({
  name: "gauges",
  spec: {
    generateSelector: true,
    parentResource: { apiVersion: `${gauges.group}/v1`, resource: "gauges" },
    hooks: { sync: { webhook: { url } } },
  },
});

/** A CompositeController. */
export interface Composite {
  readonly name: string;
  readonly spec: object;
}

/** Its kinds, without what they would refuse, and the controller that calls the webhook. */
export async function declareComposite(client: KubeClient, { name, spec }: Composite): Promise<void> {
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  for (const kind of kinds) await installKind(client, kind, { schema: open, subresources: { status: {} } });
  await createOrReplace(client, composite, { metadata: { name }, spec });
}

export async function withdrawComposite(client: KubeClient, name: string): Promise<void> {
  await client.delete(composite, objectKey({ name }));
}
