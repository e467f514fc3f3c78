import { describe, expect, it } from "vitest";
import { inDeletionOrder } from "./deletion-order.ts";
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
    ["who is on no node, who is on one", { node: "", ready: 50 }, { phase: "Pending" }],
    ["who is pending, who runs", { phase: "Pending" }, {}],
    ["who is pending, of whom nothing is known", { phase: "Pending" }, { phase: "Unknown" }],
    ["of whom nothing is known, who runs", { phase: "Unknown" }, {}],
    ["who is not ready, who is", { age: 10_000 }, { ready: 1 }],
    ["who costs less, who costs more", { ready: 90, cost: "-1" }, { ready: 1 }],
    ["who has been ready for a short time, who has for long", { ready: 10 }, { ready: 10_000 }],
    ["who has restarted more often, who has less", { ready: 10, restarts: 3 }, { ready: 10, restarts: 1 }],
    [
      "whose cost is more than any may be, and so nothing, who costs more than that",
      { ready: 90, cost: "4294967296" },
      { ready: 1, cost: "1" },
    ],
    [
      "whose sidecars have restarted more often, whose have less",
      { ready: 10, sidecarRestarts: 3 },
      { ready: 10, sidecarRestarts: 1 },
    ],
    ["who is young, who is old", { age: 10 }, { age: 10_000 }],
    ["of those about as old, who has the lower uid", { age: 90 }, { age: 100 }],
  ])("%s", (_, first, second) => {
    const [a, b] = [pod("a", first), pod("b", second)];
    expect(inDeletionOrder([b, a], [a, b], now)).toEqual([a, b]);
  });

  it("who shares its node with more of the kind, those of sibling sets among them", () => {
    const [alone, shared] = [pod("a", { node: "x", ready: 10 }), pod("b", { node: "y", ready: 90 })];
    const sibling = pod("c", { node: "y", ready: 10 });
    expect(inDeletionOrder([alone, shared], [alone, shared, sibling], now)).toEqual([shared, alone]);
  });

  it("nobody for company that has ended, or is about to", () => {
    const [a, b] = [pod("a", { node: "x", ready: 10 }), pod("b", { node: "y", ready: 90 })];
    const over = pod("c", { node: "y", phase: "Succeeded" });
    const leaving = pod("d", { node: "y" });
    const metadata = { ...leaving.metadata, deletionTimestamp: ago(1) };
    expect(inDeletionOrder([b, a], [a, b, over, { ...leaving, metadata }], now)).toEqual([a, b]);
  });

  it("whose age is not known, whose is", () => {
    const [a, b] = [pod("a", {}), pod("b", { age: 1 })];
    const { creationTimestamp: _, ...metadata } = a.metadata;
    const unknown = { ...a, metadata };
    expect(inDeletionOrder([b, unknown], [b, unknown], now)).toEqual([unknown, b]);
  });

  it("nobody by a cost that is no number", () => {
    const [a, b] = [pod("a", { ready: 10, cost: "010" }), pod("b", { ready: 10_000, cost: "5" })];
    expect(inDeletionOrder([b, a], [a, b], now)).toEqual([a, b]);
  });
});
