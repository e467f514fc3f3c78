import type { Manifest } from "@drover/testing";

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
