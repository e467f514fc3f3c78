import fc from "fast-check";
import { expect, it } from "vitest";
import {
  isActive,
  isAvailable,
  isReady,
  isTerminating,
  mayRun,
  maxRestarts,
  nextAvailable,
  type Pod,
  podSchema,
  readySince,
} from "./pod.ts";

const pod = (since: number | undefined): Pod =>
  ({
    status: {
      conditions: since === undefined ? [] : [{ type: "Ready", status: "True", lastTransitionTime: since }],
    },
  }) as unknown as Pod;

it("the next pod becomes available then, and none before", () => {
  const since = fc.option(
    fc.nat(100).map((seconds) => seconds * 1_000),
    { nil: undefined },
  );
  fc.assert(
    fc.property(fc.array(since), fc.nat(60), fc.nat(120), (all, minReadySeconds, seconds) => {
      const pods = all.map(pod);
      const now = seconds * 1_000;
      const available = (at: number): number =>
        pods.filter((each) => isAvailable(each, minReadySeconds, at)).length;
      const next = nextAvailable(pods, minReadySeconds, now);
      const last = 1_000_000;
      if (next === undefined || minReadySeconds === 0) expect(available(last)).toBe(available(now));
      else {
        expect(available(now + next - 1)).toBe(available(now));
        expect(available(now + next)).toBeGreaterThan(available(now));
      }
    }),
  );
});

const parsed = (spec: object, status: object, metadata: object = {}): Pod =>
  podSchema.parse({
    apiVersion: "v1",
    kind: "Pod",
    spec,
    status,
    metadata: { name: "a", uid: "a", resourceVersion: "1", ...metadata },
  });

it.each([
  ["Pending", false, "active"],
  ["Running", false, "active"],
  ["Unknown", false, "active"],
  [undefined, false, "active"],
  ["Running", true, "terminating"],
  ["Succeeded", false, "ended"],
  ["Failed", false, "ended"],
  ["Succeeded", true, "ended"],
  ["Failed", true, "ended"],
])("a pod in phase %s (deleted: %s) is %s", (phase, isDeleted, expected) => {
  const one = parsed({}, { phase }, isDeleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {});
  expect([isActive(one), isTerminating(one), mayRun(one)]).toEqual([
    ...[expected === "active", expected === "terminating", expected !== "ended"],
  ]);
});

it("a pod is ready by its condition Ready, whatever other conditions it has", () => {
  const condition = (type: string, status: string, second: number) => ({
    type,
    status,
    lastTransitionTime: new Date(second * 1_000).toISOString(),
  });
  const of = (...conditions: readonly object[]) => parsed({}, { conditions });
  const ready = of(condition("Initialized", "True", 1), condition("Ready", "True", 5));
  expect([isReady(ready), readySince(ready)]).toEqual([true, 5_000]);
  const not = of(condition("Initialized", "True", 1), condition("Ready", "False", 5));
  expect([isReady(not), readySince(not), isAvailable(not, 0, 9_000)]).toEqual([false, undefined, false]);
});

it("the most restarts are those of any container, and of any sidecar: no other init container counts", () => {
  const restarts = (name: string, restartCount: number) => ({ name, restartCount });
  const one = parsed(
    {
      initContainers: [
        { name: "setup" },
        { name: "proxy", restartPolicy: "Always" },
        { name: "logs", restartPolicy: "Always" },
      ],
    },
    {
      containerStatuses: [restarts("a", 1), restarts("b", 4), restarts("c", 2)],
      initContainerStatuses: [restarts("setup", 9), restarts("proxy", 3), restarts("logs", 5)],
    },
  );
  expect(maxRestarts(one)).toEqual([4, 5]);
  expect(maxRestarts(parsed({}, {}))).toEqual([0, 0]);
});
