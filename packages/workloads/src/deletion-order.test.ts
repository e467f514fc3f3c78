import { describe, expect, it } from "vitest";
import { inDeletionOrder, inPlainDeletionOrder } from "./deletion-order.ts";
import { type Pod, podSchema } from "./pod.ts";

const now = Date.parse("2026-01-10T00:00:00Z");
const ago = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();

interface Looks {
  readonly node?: string;
  readonly phase?: string;
  /** Seconds for which it has been ready. */
  readonly ready?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  /** Seconds. */
  readonly age?: number;
}

const pod = (
  name: string,
  { node = "n", phase = "Running", ready, cost, restarts = 0, sidecarRestarts = 0, age = 100 }: Looks,
): Pod =>
  podSchema.parse({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: ago(age),
      ...(cost !== undefined && { annotations: { "controller.kubernetes.io/pod-deletion-cost": cost } }),
    },
    spec: {
      ...(node !== "" && { nodeName: node }),
      initContainers: [{ name: "s", restartPolicy: "Always" }],
    },
    status: {
      phase,
      containerStatuses: [{ name: "c", restartCount: restarts }],
      initContainerStatuses: [{ name: "s", restartCount: sidecarRestarts }],
      ...(ready !== undefined && {
        conditions: [{ type: "Ready", status: "True", lastTransitionTime: ago(ready) }],
      }),
    },
  });

describe("goes before", () => {
  it.each<readonly [string, Looks, Looks]>([
    ["a pod on no node, one on a node", { node: "", ready: 50 }, { phase: "Pending" }],
    ["a pending pod, a running one", { phase: "Pending" }, {}],
    ["a pending pod, an unknown one", { phase: "Pending" }, { phase: "Unknown" }],
    ["an unknown pod, a running one", { phase: "Unknown" }, {}],
    ["a pod that is not ready, a ready one", { age: 10_000 }, { ready: 1 }],
    ["a pod of lower cost, one of higher cost", { ready: 90, cost: "-1" }, { ready: 1 }],
    ["a pod ready for a short time, one ready for long", { ready: 10 }, { ready: 10_000 }],
    ["a pod with more restarts, one with fewer", { ready: 10, restarts: 3 }, { ready: 10, restarts: 1 }],
    [
      "a pod whose cost is out of range, and so 0, one of higher cost",
      { ready: 90, cost: "4294967296" },
      { ready: 1, cost: "1" },
    ],
    [
      "a pod with more sidecar restarts, one with fewer",
      { ready: 10, sidecarRestarts: 3 },
      { ready: 10, sidecarRestarts: 1 },
    ],
    ["a young pod, an old one", { age: 10 }, { age: 10_000 }],
    ["of pods of similar age, the one with the lower uid", { age: 90 }, { age: 100 }],
  ])("%s", (_, first, second) => {
    const [a, b] = [pod("a", first), pod("b", second)];
    expect(inDeletionOrder([b, a], [a, b], now)).toEqual([a, b]);
  });

  it("a pod that shares its node with more related pods, those of sibling sets included", () => {
    const [alone, shared] = [pod("a", { node: "x", ready: 10 }), pod("b", { node: "y", ready: 90 })];
    const sibling = pod("c", { node: "y", ready: 10 });
    expect(inDeletionOrder([alone, shared], [alone, shared, sibling], now)).toEqual([shared, alone]);
  });

  it("no pod for related pods that have ended, or are being deleted", () => {
    const [a, b] = [pod("a", { node: "x", ready: 10 }), pod("b", { node: "y", ready: 90 })];
    const over = pod("c", { node: "y", phase: "Succeeded" });
    const leaving = pod("d", { node: "y" });
    const metadata = { ...leaving.metadata, deletionTimestamp: ago(1) };
    expect(inDeletionOrder([b, a], [a, b, over, { ...leaving, metadata }], now)).toEqual([a, b]);
  });

  it("a pod of unknown age, one of known age", () => {
    const [a, b] = [pod("a", {}), pod("b", { age: 1 })];
    const { creationTimestamp: _, ...metadata } = a.metadata;
    const unknown = { ...a, metadata };
    expect(inDeletionOrder([b, unknown], [b, unknown], now)).toEqual([unknown, b]);
  });

  it("no pod by a cost that is not a number", () => {
    const [a, b] = [pod("a", { ready: 10, cost: "010" }), pod("b", { ready: 10_000, cost: "5" })];
    expect(inDeletionOrder([b, a], [a, b], now)).toEqual([a, b]);
  });
});

describe("of a Job's pods goes before", () => {
  it.each<readonly [string, Looks, Looks]>([
    ["a pod on no node, one on a node", { node: "", ready: 50 }, { phase: "Pending" }],
    ["a pending pod, a running one", { phase: "Pending", ready: 50 }, {}],
    ["a pod that is not ready, a ready one", { age: 10_000 }, { ready: 1 }],
    ["a pod ready for a short time, one ready for longer", { ready: 10 }, { ready: 11, restarts: 5 }],
    [
      "a pod with more restarts, one with fewer",
      { restarts: 3 },
      { restarts: 1, sidecarRestarts: 5, age: 1 },
    ],
    ["a pod with more restarts of sidecars, a younger one", { sidecarRestarts: 2 }, { age: 1 }],
    ["a young pod, one that is hardly older", { age: 10 }, { age: 11 }],
    ["a young pod of high cost, an older one", { age: 10, cost: "100" }, { age: 11, cost: "-100" }],
  ])("%s", (_, first, second) => {
    const [a, b] = [pod("a", first), pod("b", second)];
    expect(inPlainDeletionOrder([a, b])).toEqual([a, b]);
    expect(inPlainDeletionOrder([b, a])).toEqual([a, b]);
  });
});
