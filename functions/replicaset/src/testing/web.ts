import type { KubeObject } from "@drover/kube";
import type { Manifest, User } from "@drover/testing";

export const pods = { apiVersion: "v1", kind: "Pod" };
export const sets = { apiVersion: "apps/v1", kind: "ReplicaSet" };

/** A ReplicaSet of that many pods. */
export const web = (replicas: number): Manifest => ({
  ...sets,
  metadata: { name: "web" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "web:1" }] },
    },
  },
});

/** Does what a kubelet does for the pods of these sets. Pods that a plan adds to them are left alone. */
export async function makeReady(user: User, owners: readonly KubeObject[]): Promise<void> {
  const uids = new Set(owners.map(({ metadata }) => metadata.uid));
  for (const { metadata } of await user.list(pods)) {
    if (!metadata.ownerReferences?.some(({ uid }) => uids.has(uid))) continue;
    const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
    await user.writeStatus({ ...pods, metadata, status: { phase: "Running", conditions: [ready] } });
  }
}
