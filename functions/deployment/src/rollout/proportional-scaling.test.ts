import { describe, expect, it } from "vitest";
import { decideDraft, deploymentOf, setOf, type SetOptions, sizes } from "../testing/drafts.ts";

const madeFor = (desired: number, max: number) => ({
  "deployment.kubernetes.io/desired-replicas": String(desired),
  "deployment.kubernetes.io/max-replicas": String(max),
});
const surging = { strategy: { rollingUpdate: { maxSurge: 3 } } };
const of = (image: string, size: number, more: SetOptions = {}) =>
  setOf(image, { size, annotations: madeFor(10, 13), ...more });

describe("scaling in the middle of a rollout", () => {
  it("to nothing leaves nothing, though surge is allowed", () => {
    const draft = decideDraft(deploymentOf({ replicas: 0, ...surging }), [
      of("web:old", 8),
      of("web:new", 5, { age: 1 }),
    ]);
    expect(sizes(draft)).toEqual({ "web:old": 0, "web:new": 0 });
  });

  it("is done once: every set is noted to be made for the size that there is now, those that keep theirs too", () => {
    const draft = decideDraft(deploymentOf({ replicas: 11, ...surging }), [
      of("web:old", 12),
      of("web:new", 1, { age: 1 }),
    ]);
    expect(sizes(draft)).toEqual({ "web:old": 13, "web:new": 1 });
    for (const { annotations } of draft.sets) expect(annotations).toMatchObject(madeFor(11, 14));
  });

  it.each([
    [11, { "web:a": 5, "web:new": 6 }],
    [9, { "web:a": 4, "web:new": 5 }],
  ])("of sets as large the newer gains first and the older loses first: to %i", (replicas, expected) => {
    const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
    const annotations = madeFor(10, 10);
    const both = [of("web:a", 5, { annotations }), of("web:new", 5, { annotations, age: 1 })];
    expect(sizes(decideDraft(deploymentOf({ replicas, strategy }), both))).toEqual(expected);
  });

  it("gives the rest to the largest set", () => {
    const sets = [of("web:a", 4), of("web:b", 5, { age: 1 }), of("web:new", 4, { age: 2 })];
    expect(sizes(decideDraft(deploymentOf({ replicas: 11, ...surging }), sets))).toEqual({
      "web:a": 4,
      "web:b": 6,
      "web:new": 4,
    });
  });

  it("to the size that the newest set happens to have takes no old pods at once", () => {
    const sets = [of("web:old", 3), of("web:new", 8, { age: 1 })];
    const draft = decideDraft(deploymentOf({ replicas: 8, ...surging }), sets);
    expect(sizes(draft)).toEqual({ "web:old": 3, "web:new": 8 });
    for (const { annotations } of draft.sets) expect(annotations).toMatchObject(madeFor(8, 11));
  });

  it("counts by the existing pods where a set has no size annotation", () => {
    const annotations = { "deployment.kubernetes.io/desired-replicas": "10" };
    const sets = [of("web:old", 6, { annotations }), of("web:new", 4, { annotations, age: 1 })];
    const deployment = deploymentOf(
      { replicas: 20, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
      { status: { replicas: 10 } },
    );
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

  it("lets the old pods go once all new ones are available, and not before", () => {
    const fresh = (availableReplicas: number) => of("web:new", 10, { age: 1, status: { availableReplicas } });
    expect(paused(10, of("web:old", 3), fresh(10))).toEqual({ "web:old": 0, "web:new": 10 });
    expect(paused(10, of("web:old", 3), fresh(9))).toEqual({ "web:old": 3, "web:new": 10 });
  });

  it("is scaled in its newest set where none has pods, also where that is of an older template", () => {
    expect(paused(4, of("web:a", 0), of("web:b", 0, { age: 1 }))).toEqual({ "web:a": 0, "web:b": 4 });
    expect(paused(4, of("web:new", 0), of("web:b", 0, { age: 1 }))).toEqual({ "web:new": 4, "web:b": 0 });
  });
});
