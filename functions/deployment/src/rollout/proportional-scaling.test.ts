import { describe, expect, it } from "vitest";
import { decideDraft, deploymentOf, madeFor, setOf, type SetOptions, sizes } from "../testing/drafts.ts";

const surging = { strategy: { rollingUpdate: { maxSurge: 3 } } };
const steady = { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } };
const of = (image: string, size: number, age = 0, more: SetOptions = {}) =>
  setOf(image, { size, age, annotations: madeFor(10, 13), ...more });

describe("scaling in the middle of a rollout", () => {
  const halfway = [of("web:old", 8), of("web:new", 5, 1, { status: { availableReplicas: 0 } })];
  it.each([
    ["adds pods in proportion", 15, halfway, [11, 7]],
    ["takes pods in proportion", 5, halfway, [5, 3]],
    ["to nothing leaves nothing, though surge is allowed", 0, halfway, [0, 0]],
    ["gives all to the only set that has any", 4, [of("web:old", 10)], [4]],
    [
      "gives the rest to the largest set",
      11,
      [of("web:a", 4), of("web:b", 5, 1), of("web:new", 4, 2)],
      [4, 6, 4],
    ],
    ["takes no old pods for a newest set of that size", 8, [of("web:old", 3), of("web:new", 8, 1)], [3, 8]],
    ["leaves a set that has its part", 11, [of("web:old", 12), of("web:new", 1, 1)], [13, 1]],
  ])("%s, once: all sets are then made for that size", (_, replicas, sets, expected) => {
    const draft = decideDraft(deploymentOf({ replicas, ...surging }), sets);
    expect(Object.values(sizes(draft))).toEqual(expected);
    for (const { annotations } of draft.sets)
      expect(annotations).toMatchObject(madeFor(replicas, replicas + 3));
  });

  it.each([
    [11, { "web:a": 5, "web:new": 6 }],
    [9, { "web:a": 4, "web:new": 5 }],
  ])("of sets as large the newer gains first and the older loses first: to %i", (replicas, expected) => {
    const annotations = madeFor(10, 10);
    const both = [of("web:a", 5, 0, { annotations }), of("web:new", 5, 1, { annotations })];
    expect(sizes(decideDraft(deploymentOf({ replicas, ...steady }), both))).toEqual(expected);
  });

  it("counts by the existing pods where a set has no size annotation", () => {
    const annotations = { "deployment.kubernetes.io/desired-replicas": "10" };
    const sets = [of("web:old", 6, 0, { annotations }), of("web:new", 4, 1, { annotations })];
    const deployment = deploymentOf({ replicas: 20, ...steady }, { status: { replicas: 10 } });
    expect(sizes(decideDraft(deployment, sets))).toEqual({ "web:old": 12, "web:new": 8 });
  });

  it("is none where a set has no size annotation: the rollout goes on", () => {
    const sets = [setOf("web:old", { size: 8 }), setOf("web:new", { size: 5, age: 1 })];
    expect(sizes(decideDraft(deploymentOf({ replicas: 10, ...surging }), sets))).toEqual({
      "web:old": 5,
      "web:new": 5,
    });
  });
});

describe("a paused Deployment", () => {
  const paused = (replicas: number, ...sets: readonly ReturnType<typeof setOf>[]) =>
    sizes(decideDraft(deploymentOf({ replicas, paused: true, ...surging }), sets));

  it("does not roll", () => {
    expect(paused(10, of("web:old", 10))).toEqual({ "web:old": 10 });
  });

  it("lets the old pods go once all new ones are available, and not before", () => {
    const fresh = (availableReplicas: number) => of("web:new", 10, 1, { status: { availableReplicas } });
    expect(paused(10, of("web:old", 3), fresh(10))).toEqual({ "web:old": 0, "web:new": 10 });
    expect(paused(10, of("web:old", 3), fresh(9))).toEqual({ "web:old": 3, "web:new": 10 });
  });

  it("is scaled in its newest set where none has pods, also where that is of an older template", () => {
    expect(paused(4, of("web:a", 0), of("web:b", 0, 1))).toEqual({ "web:a": 0, "web:b": 4 });
    expect(paused(4, of("web:new", 0), of("web:b", 0, 1))).toEqual({ "web:new": 4, "web:b": 0 });
  });
});
