import { objectKey } from "@drover/controller";
import { builtin, isApiError, type KubeClient } from "@drover/kube";
import { availableParallelism, totalmem } from "node:os";
import { timestampNow } from "./timestamp-now.ts";

/** The labels by which pods may select a node. */
export const nodeLabels = (name: string): Readonly<Record<string, string>> => ({
  "kubernetes.io/hostname": name,
  "kubernetes.io/os": "linux",
  "drover.dev/node": "processes",
});

/** Creates the Node object, or takes over an existing one, and reports it ready. */
export async function registerNode(client: KubeClient, name: string): Promise<void> {
  try {
    await client.create(builtin.node, { metadata: { name, labels: nodeLabels(name) }, spec: {} });
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
  }
  await reportNodeStatus(client, name, { ready: true });
}

/** Writes the Node's status. There are no heartbeats: no node controller runs where this node is used. */
export async function reportNodeStatus(
  client: Pick<KubeClient, "patch">,
  name: string,
  { ready }: { ready: boolean },
): Promise<void> {
  const capacity = {
    cpu: String(availableParallelism()),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    pods: "250",
  };
  const fields = ready
    ? { status: "True", reason: "Ready", message: "pods are run as processes of this machine" }
    : { status: "False", reason: "Stopped", message: "the node was stopped, and the processes of its pods" };
  const condition = {
    type: "Ready",
    ...fields,
    lastHeartbeatTime: timestampNow(),
    lastTransitionTime: timestampNow(),
  };
  const status = {
    capacity,
    allocatable: capacity,
    conditions: [condition],
    addresses: [
      { type: "InternalIP", address: "127.0.0.1" },
      { type: "Hostname", address: name },
    ],
    nodeInfo: { kubeletVersion: "drover-node", operatingSystem: "linux", architecture: process.arch },
  };
  const key = objectKey({ name });
  await client.patch(builtin.node, key, { type: "merge", body: { status } }, { subresource: "status" });
}
