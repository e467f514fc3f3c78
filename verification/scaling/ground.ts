import {
  customResourceDefinition,
  ReconcileFunction,
  reconcileFunctionOf,
  silentLog,
} from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { type RedisServer, spawnTied, startRedis, type TiedProcess } from "@drover/local-servers";
import { startNode } from "@drover/node";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { registrationOfDeployer } from "../end-to-end/stage/deployer-registration.ts";
import { startTestCluster, type TestCluster } from "../end-to-end/stage/test-cluster.ts";
import { Load, loadController } from "./loads.ts";

/** A cluster with bridge, deployer and a node, and functions deployed to it. */
export interface Ground {
  readonly cluster: TestCluster;
  readonly client: KubeClient;
  readonly journal: string;
  stop(): Promise<void>;
}

const root = new URL("../..", import.meta.url).pathname;
const image = "load";

/** @param functions their names, and how many Pods each has at least. */
export async function startGround(functions: ReadonlyMap<string, number>): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), "drover-scaling-"));
  const [cluster, redis] = await Promise.all([startTestCluster(folder), startRedis({ persistence: false })]);
  const compiled = { NODE_COMPILE_CACHE: join(root, ".cache/compiled") };
  const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test", log: silentLog });
  await cluster.apply({ ...customResourceDefinition(ReconcileFunction) });
  await cluster.apply({ ...customResourceDefinition(Load) });
  await cluster.apply(registrationOfDeployer());
  const node = await startNode({
    client,
    name: "local",
    folder: join(folder, "pods"),
    images: { [image]: { command: [process.execPath, join(root, "verification/scaling/loads.ts")] } },
    env: { KUBECONFIG: cluster.kubeconfig, PATH: process.env["PATH"] ?? "", ...compiled },
  });
  const processes = await Promise.all([
    startProcess(folder, "bridge", redis, cluster, { ...compiled, DROVER_AUTHORS: "trusted" }),
    startProcess(folder, "deployer", redis, cluster, {
      ...compiled,
      DROVER_AUTHORS: "trusted",
      DROVER_FUNCTION: "default/reconcilefunctions.drover.dev",
    }),
  ]);
  const journal = join(folder, "journal");
  for (const [name, min] of functions) {
    await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await cluster.apply(deployed(name, { min, journal }));
  }
  return {
    cluster,
    client,
    journal,
    async stop() {
      await Promise.all(processes.map((child) => child.stop()));
      await node.stop();
      await client.close();
      await Promise.all([cluster.stop(), redis.stop()]);
      await rm(folder, { recursive: true });
    },
  };
}

function deployed(name: string, { min, journal }: { readonly min: number; readonly journal: string }) {
  const { metadata, ...rest } = reconcileFunctionOf(loadController(name), {
    concurrency: 4,
    scaling: { min, max: 3, targetDue: 10, idleAfter: "1500ms" },
    container: {
      image,
      env: [
        { name: "DROVER_JOURNAL", value: journal },
        { name: "DROVER_LOAD", value: name },
        { name: "DROVER_BY", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "DROVER_LEASE", value: "2s" },
      ],
    },
  });
  return { ...rest, metadata: { ...metadata, namespace: "default" } };
}

async function startProcess(
  folder: string,
  name: "bridge" | "deployer",
  redis: RedisServer,
  cluster: TestCluster,
  env: Readonly<Record<string, string>>,
): Promise<TiedProcess> {
  return spawnTied({
    name,
    command: process.execPath,
    args: [join(root, `apps/${name}/src/main.ts`)],
    logFile: join(folder, `${name}.log`),
    env: {
      DROVER_TEST_CLUSTER: undefined,
      DROVER_KUBECTL: undefined,
      DROVER_REDIS_URL: redis.url,
      DROVER_KUBECONFIG: cluster.kubeconfig,
      ...env,
    },
  });
}
