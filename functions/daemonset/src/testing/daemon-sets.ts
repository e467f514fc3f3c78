import type { KubeObject } from "@drover/kube";
import type { Manifest, User } from "@drover/testing";
import { podSchema } from "@drover/workloads";
import { nodeOf } from "../pods/daemon-pod.ts";

export const pods = { apiVersion: "v1", kind: "Pod" };
export const nodes = { apiVersion: "v1", kind: "Node" };
export const daemonSets = { apiVersion: "apps/v1", kind: "DaemonSet" };
export const revisions = { apiVersion: "apps/v1", kind: "ControllerRevision" };

/** A DaemonSet of this image, with these other fields. */
export const daemonSet = (image: string, spec: object = {}, podSpec: object = {}): Manifest => ({
  ...daemonSets,
  metadata: { name: "agent" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: { containers: [{ name: "main", image }], ...podSpec },
    },
    ...spec,
  },
});

/** Adds a node that is ready: the API server gives each new one a taint, which the node controller would remove. */
export async function addNode(user: User, name: string, labels: Record<string, string> = {}): Promise<void> {
  await user.apply({ ...nodes, metadata: { name, labels } });
  await user.patch(nodes, name, { spec: { taints: null } });
}

const ready = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
};
const unready = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" }],
};
export const podStatuses = { ready, unready, failed: { phase: "Failed" }, succeeded: { phase: "Succeeded" } };

/** Writes the status of a pod, as a kubelet does. */
export const writePod = (user: User, { metadata }: KubeObject, status: object): Promise<unknown> =>
  user.writeStatus({ ...pods, metadata: { name: metadata.name }, status });

const isReady = ({ status }: KubeObject): boolean => JSON.stringify(status).includes('"Running"');

/** Makes the pods ready that are not. */
export async function startPods(user: User): Promise<void> {
  for (const pod of await user.list(pods)) if (!isReady(pod)) await writePod(user, pod, ready);
}

/** The image of each node's pods, as `node: image`. */
export const imagesByNode = async (user: User): Promise<readonly string[]> =>
  (await user.list(pods))
    .map((pod) => {
      const { spec, ...rest } = podSchema.parse(pod);
      const [container] = spec["containers"] as readonly { readonly image: string }[];
      return `${nodeOf({ spec, ...rest }) ?? "nowhere"}: ${container?.image ?? ""}`;
    })
    .sort();
