import type { KubeObject } from "@drover/kube";
import { expect, test } from "vitest";
import { notReadyReason } from "./readiness.ts";

const object = (apiVersion: string, kind: string, more: object, metadata: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: "a", uid: "u", resourceVersion: "1", generation: 2, ...metadata },
  ...more,
});
const set = (spec: object, status: object) =>
  object("apps/v1", "StatefulSet", { spec, status: { observedGeneration: 2, ...status } });
const is = (type: string, status = "True", message = "") => ({ type, status, message });

test.each<[string, KubeObject, string | undefined]>([
  ["no status", object("v1", "ConfigMap", {}), undefined],
  [
    "a deletion",
    object("v1", "ConfigMap", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    "it is being deleted",
  ],
  [
    "an old status",
    object("a/v1", "A", { status: { observedGeneration: 1 } }),
    "its newest change has not been observed yet",
  ],
  ["a wrong status", object("a/v1", "A", { status: { observedGeneration: "1", conditions: 1 } }), undefined],
  ["Ready", object("a/v1", "A", { status: { conditions: [is("Ready")] } }), undefined],
  ["not Ready", object("a/v1", "A", { status: { conditions: [is("Ready", "False", "soon")] } }), "soon"],
  ["Stalled", object("a/v1", "A", { status: { conditions: [is("Stalled"), is("Ready")] } }), "it is Stalled"],
  ["a Pod that runs", object("v1", "Pod", { status: { phase: "Running" } }), "it is Running"],
  [
    "a Pod that is ready",
    object("v1", "Pod", { status: { phase: "Running", conditions: [is("Ready")] } }),
    undefined,
  ],
  ["a Pod that has ended", object("v1", "Pod", { status: { phase: "Succeeded" } }), undefined],
  ["a Job", object("batch/v1", "Job", { status: {} }), "it is not complete"],
  [
    "a Job that failed",
    object("batch/v1", "Job", { status: { conditions: [is("Failed", "True", "no")] } }),
    "it failed: no",
  ],
  ["a claim", object("v1", "PersistentVolumeClaim", { status: { phase: "Pending" } }), "it is not bound"],
  [
    "a Service without an address",
    object("v1", "Service", { spec: { type: "LoadBalancer" } }),
    "it has no address yet",
  ],
  ["a Service in the cluster", object("v1", "Service", { spec: { type: "ClusterIP" } }), undefined],
  ["a StatefulSet", set({ replicas: 3 }, { readyReplicas: 2 }), "2 of 3 replicas are ready"],
  [
    "a StatefulSet that rolls",
    set({ replicas: 3 }, { readyReplicas: 3, currentRevision: "a", updateRevision: "b" }),
    "its old revision is still current",
  ],
  [
    "a StatefulSet up to its partition",
    set(
      { replicas: 3, updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } },
      { readyReplicas: 3, updatedReplicas: 1, currentRevision: "a", updateRevision: "b" },
    ),
    undefined,
  ],
])("%s", (_, given, expected) => {
  expect(notReadyReason(given)).toBe(expected);
});
