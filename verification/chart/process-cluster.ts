import { silentLog } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { findRedis7 } from "@drover/local-servers";
import { type NodeOptions, startNode } from "@drover/process-kubelet";
import { type FakeNodeCluster, ownersAreChecked, startClusterWithFakeNodes } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { compiled } from "../harness/start-process.ts";
import { type Helm, openHelm } from "./helm.ts";

const services = "127.77.0.0/16";
/** The address of the Redis. */
export const redisAddress = "127.77.0.20";
/** The node has no DNS, and no volumes that last. */
export const processValues = {
  redis: { url: `rediss://${redisAddress}:6379` },
  valkey: { clusterIP: redisAddress, storage: { persistent: false } },
};
const valkey = "valkey/valkey:9.1.0@sha256:8e8d64b405ce18f41b8e5ee20aa4687a8ed0022d1298f2ce31cdcf3a76e09411";

/** A real API server with all its controllers, and a node that runs containers as processes. */
export interface ProcessCluster {
  readonly cluster: FakeNodeCluster;
  readonly client: KubeClient;
  readonly helm: Helm;
  kubectl(...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts one, with a Redis 7 in place of Valkey.
 *
 * @param images by the kubeconfig of an account.
 */
export async function startProcessCluster(
  folder: string,
  images: (
    kubeconfigOf: (namespace: string, name: string) => Promise<string>,
  ) => Promise<NodeOptions["images"]>,
): Promise<ProcessCluster> {
  // Its node has no tokens to mount.
  const apiServerArgs = [
    `--service-cluster-ip-range=${services}`,
    "--disable-admission-plugins=ServiceAccount",
    ownersAreChecked,
  ];
  // The node has no heartbeats either, and its Pods would be marked as not ready for that.
  const controllers = ["*", "-node-lifecycle-controller"];
  const cluster = await startClusterWithFakeNodes({ nodes: 0, controllers, apiServerArgs });
  const helm = await openHelm(folder, cluster.kubeconfig);
  const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test", log: silentLog });
  const { command } = await findRedis7();
  const kubeconfigOf = (namespace: string, name: string) =>
    cluster.kubeconfigFor({
      user: `system:serviceaccount:${namespace}:${name}`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    });
  const node = await startNode({
    client,
    name: "local",
    images: {
      ...(await images(kubeconfigOf)),
      // Its arguments begin with the name of the program.
      [valkey]: { command: ["sh", "-c", `shift; exec ${command} "$@"`, "sh"] },
    },
    folder: join(folder, "pods"),
    env: { ...compiled, PATH: process.env["PATH"] ?? "" },
  });
  return {
    cluster,
    client,
    helm,
    kubectl: async (...args) =>
      (await promisify(execFile)(cluster.kubectl, args, { maxBuffer: 2 ** 26 })).stdout,
    async stop() {
      await node.stop();
      await client.close();
      await cluster.stop();
    },
  };
}
