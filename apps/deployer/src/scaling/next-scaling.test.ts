import { expect, it } from "vitest";
import { nextRollout } from "../pods/next-rollout.ts";
import type { FunctionLoad } from "../redis/function-queues.ts";
import { nextScaling } from "./next-scaling.ts";
import { cupSpec, idle } from "../testing/cups.ts";

const wantedOf = (scaling: object, { tried, load = idle }: { tried: boolean; load?: FunctionLoad }) => {
  const spec = cupSpec({ container: { image: "cups:1" }, scaling });
  const pod = { name: "a", uid: "a", revision: 1, ready: true, problem: undefined };
  const first = { ...pod, deleting: false, ended: false, createdAt: "2026-01-01T00:00:00Z" };
  const rollout = { revision: 1, template: "t" };
  const status = { rollout: tried ? nextRollout({ spec, status: { rollout } }, "t", [first]) : rollout };
  return nextScaling({ spec, status }, load, { pods: 0, now: new Date(0) }).scaling.wanted;
};

it.each([
  ["by its queues", { min: 0, max: 3 }],
  ["by KEDA", { min: 0, max: 3, by: "KEDA" }],
  ["by KEDA, which has written 0", { min: 0, max: 3, by: "KEDA", replicas: 0 }],
])("scaled %s, a container that was not tried has one Pod though nothing is due", (_, scaling) => {
  expect(wantedOf(scaling, { tried: false })).toBe(1);
  expect(wantedOf(scaling, { tried: true })).toBe(0);
  expect(wantedOf(scaling, { tried: false, load: { ...idle, allPaused: true } })).toBe(0);
});

it.each([
  ["its minimum", { min: 2, max: 3 }, 2],
  ["its minimum, before KEDA has written another number", { min: 2, max: 3, by: "KEDA", replicas: 0 }, 2],
  ["fewer than its minimum, as KEDA is paused", { min: 2, max: 3, by: "KEDA", replicas: 1 }, 1],
  ["as many as KEDA has written", { min: 0, max: 5, by: "KEDA", replicas: 4 }, 4],
])("the trial takes no Pod from %s", (_, scaling, wanted) => {
  expect(wantedOf(scaling, { tried: false })).toBe(wanted);
});

it("fewer are wanted only after idleAfter, and the remaining time is returned; KEDA is not waited for", () => {
  const next = (scaling: object, before: object, seconds: number) => {
    const spec = cupSpec({ scaling: { idleAfter: "60s", ...scaling } });
    const now = new Date(seconds * 1_000);
    return nextScaling({ spec, status: { scaling: { wanted: 3, ...before } } }, idle, { pods: 3, now });
  };
  const since = { fewerSince: new Date(0).toISOString(), fewer: 0 };
  expect(next({}, {}, 0)).toEqual({ scaling: { wanted: 3, ...since }, left: 60_000 });
  expect(next({}, since, 59)).toEqual({ scaling: { wanted: 3, ...since }, left: 1_000 });
  expect(next({}, since, 60)).toEqual({ scaling: { wanted: 0 }, left: Infinity });
  expect(next({ by: "KEDA", replicas: 1 }, since, 0)).toEqual({
    scaling: { wanted: 1, by: "KEDA" },
    left: Infinity,
  });
});
