import type { ReconcileFunctionSpec } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { isTried, minPods, nextRollout } from "./next-rollout.ts";
import type { ObservedPod } from "./observe-pods.ts";
import { functionConditions } from "../function-conditions.ts";
import { cup } from "../testing/cups.ts";

const withImage = (image: string, more: object = {}): ReconcileFunctionSpec => ({
  for: cup,
  container: { image, port: 8080 },
  ...more,
});
const spec = withImage("cups:1");
const pod = (revision: number, ready: boolean, more: Partial<ObservedPod> = {}): ObservedPod => ({
  name: `cups-r${revision}`,
  uid: String(revision),
  revision,
  ready,
  problem: undefined,
  deleting: false,
  ended: false,
  createdAt: "2026-01-01T00:00:00Z",
  ...more,
});
const rolledOut = { revision: 1, template: "t1", complete: 1 };
const tried = nextRollout({ spec, status: { rollout: rolledOut } }, "t1", [pod(1, true)]);

describe("a container", () => {
  it("is tried when a Pod of its revision is Ready, and stays so without Pods", () => {
    expect(isTried({ spec, status: { rollout: rolledOut } })).toBe(false);
    expect(isTried({ spec, status: { rollout: tried } })).toBe(true);
    expect(nextRollout({ spec, status: { rollout: tried } }, "t1", [])).toEqual(tried);
  });
  it.each([
    ["that is not Ready", pod(1, false)],
    ["of an older revision", pod(0, true)],
  ])("is not tried by a Pod %s", (_, other) => {
    const rollout = nextRollout({ spec, status: { rollout: rolledOut } }, "t1", [other]);
    expect(isTried({ spec, status: { rollout } })).toBe(false);
  });
  it("is tried anew with another image or another delivery, not with another password or pace", () => {
    for (const other of [withImage("cups:2"), withImage("cups:1", { delivery: "webhook" })])
      expect(isTried({ spec: other, status: { rollout: tried } })).toBe(false);
    const next = nextRollout({ spec, status: { rollout: tried } }, "t2", [pod(1, true)]);
    expect(next.revision).toBe(2);
    expect(isTried({ spec: withImage("cups:1", { timeout: "5m" }), status: { rollout: next } })).toBe(true);
  });
  it("has one Pod while it is to be tried; none when it is paused or there is none", () => {
    const untried = { spec, status: { rollout: rolledOut } };
    expect(minPods(untried, { allPaused: false })).toBe(1);
    expect(minPods(untried, { allPaused: true })).toBe(0);
    expect(minPods({ ...untried, spec: { for: spec.for } }, { allPaused: false })).toBe(0);
    expect(minPods({ spec, status: { rollout: tried } }, { allPaused: false })).toBe(0);
    expect(minPods({ spec, status: {} }, { allPaused: false })).toBe(1);
  });
});

describe("a revision", () => {
  it("has taken over when its container is tried and no older Pod is left", () => {
    const second = { revision: 2, template: "t2", complete: 1, tried: "another" };
    const of = (pods: readonly ObservedPod[]) =>
      nextRollout({ spec, status: { rollout: second } }, "t2", pods).complete;
    expect(of([])).toBe(1);
    expect(of([pod(2, false)])).toBe(1);
    expect(of([pod(2, true), pod(1, true)])).toBe(1);
    expect(of([pod(2, true)])).toBe(2);
  });
  it("is newer than any Pod that there is", () => {
    expect(nextRollout({ spec, status: {} }, "t", [pod(7, false)])).toEqual({ revision: 8, template: "t" });
  });
});

type Observed = Partial<Parameters<typeof functionConditions>[0]>;
const conditionsOf = (more: Observed) =>
  functionConditions({
    spec,
    status: { rollout: rolledOut },
    pods: [],
    revision: 1,
    wanted: 1,
    load: { allPaused: false },
    ...more,
  });
/** Status, reason and message of a condition. */
const conditionOf = (type: string, more: Observed) => {
  const { status, reason, message } = conditionsOf(more).find((one) => one.type === type) ?? {};
  return [status, reason, message];
};
const noImage = { reason: "ImageNotPulled", message: "no such image" } as const;
const crash = { reason: "NewPodsDoNotStart", message: "exit code 3" } as const;
const isTriedNow = { status: { rollout: tried } };

describe("RolledOut", () => {
  it.each([
    ["nothing was started yet", [], {}, ["False", "FirstPodStarting"]],
    ["the first Pod lacks its image", [pod(1, false, { problem: noImage })], {}, ["False", "ImageNotPulled"]],
    ["the first Pod is Ready", [pod(1, true)], isTriedNow, ["True", "AllOfOneRevision"]],
    ["it rests, and was tried", [], isTriedNow, ["True", "AllOfOneRevision"]],
    ["its only Pod was killed later", [pod(1, false, { problem: noImage })], isTriedNow, ["True"]],
    ["older Pods end their runs", [pod(0, true), pod(1, true)], isTriedNow, ["False", "OlderPodsLeft"]],
    [
      "the new one does not start beside the older",
      [pod(0, true), pod(1, false, { problem: noImage })],
      {},
      ["False", "ImageNotPulled", "no such image"],
    ],
    [
      "one of two new Pods is Ready",
      [pod(0, true), pod(1, false, { problem: noImage }), pod(1, true)],
      isTriedNow,
      ["False", "OlderPodsLeft"],
    ],
    ["it is paused and was never tried", [], { load: { allPaused: true } }, ["Unknown", "Paused"]],
    ["it has no container", [], { spec: { for: spec.for } }, []],
  ])("when %s", (_, pods, more, expected) => {
    expect(conditionOf("RolledOut", { pods, ...more }).slice(0, expected.length)).toEqual(expected);
  });
});

describe("whether work is under way", () => {
  const work = (pods: readonly ObservedPod[], more: Observed) =>
    conditionsOf({ pods, ...more })
      .filter(({ type }) => type === "Reconciling" || type === "Stalled")
      .map(({ type, status, reason, message }) => [type, status, reason, message]);
  it.each([
    [
      "its first Pod starts",
      [pod(1, false)],
      {},
      ["Reconciling", "True", "NoPodReady", "Its Pods are starting."],
    ],
    [
      "older Pods are Ready, and end their runs",
      [pod(0, true), pod(1, true)],
      isTriedNow,
      ["Reconciling", "True", "OlderPodsLeft"],
    ],
    // Ready names no reason that needs a person: RolledOut does.
    [
      "the image is not there",
      [pod(1, false, { problem: noImage })],
      {},
      ["Stalled", "True", "ImageNotPulled"],
    ],
    [
      "the new image is not there, and older Pods are Ready",
      [pod(0, true), pod(1, false, { problem: noImage })],
      {},
      ["Stalled", "True", "ImageNotPulled", "no such image"],
    ],
    ["its container crashes", [pod(1, false, { problem: crash })], {}, ["Reconciling", "True", "NoPodReady"]],
    [
      "another function has its kind",
      [],
      { status: { rollout: tried, problem: "Another one." } },
      ["Stalled", "True", "NotInUse", "The bridge does not use this spec: Another one."],
    ],
  ])("is stated when %s", (_, pods, more, expected) => {
    expect(work(pods, more).map((one) => one.slice(0, expected.length))).toEqual([expected]);
  });
  it.each([
    ["it runs", [pod(1, true)], isTriedNow],
    ["it rests", [], { ...isTriedNow, wanted: 0 }],
    ["it is paused and was never tried", [], { load: { allPaused: true }, wanted: 0 }],
    ["it has no container", [], { spec: { for: spec.for } }],
  ])("is not stated when %s", (_, pods, more) => {
    expect(work(pods, more)).toEqual([]);
  });
});

describe("Ready", () => {
  const stated = (type: string, more: Observed) =>
    conditionOf(type, { ...isTriedNow, pods: [pod(1, true)], ...more });
  const problem = { rollout: tried, problem: "Another one." };
  const leaving = pod(1, true, { deleting: true });
  it.each([
    ["a Pod is Ready", {}, ["True", "Running", "1 of 1 Pods are Ready."]],
    [
      "one of an older revision is",
      { pods: [pod(0, true), pod(1, false)], wanted: 2 },
      ["True", "Running", "1 of 2 Pods are Ready."],
    ],
    ["the only one that is Ready is to go", { pods: [leaving] }, ["False", "NoPodReady"]],
    [
      "none is, and one has a reason",
      { pods: [pod(1, false, { problem: crash })] },
      ["False", "NoPodReady", "exit code 3"],
    ],
    [
      "only an older one has a reason",
      { pods: [pod(0, false, { problem: crash })] },
      ["False", "NoPodReady", "Its Pods are starting."],
    ],
    ["none is wanted", { pods: [], wanted: 0 }, ["True", "ScaledToZero"]],
    ["it is paused", { pods: [], spec: { ...spec, paused: true } }, ["True", "Paused"]],
    ["it runs outside of Drover", { pods: [], spec: { for: spec.for } }, ["True", "Registered"]],
    [
      "it is not in use, though a Pod is Ready",
      { status: problem },
      ["False", "NotInUse", "The bridge does not use this spec: Another one."],
    ],
    [
      "it is not in use, and paused",
      { status: problem, spec: { ...spec, paused: true } },
      ["False", "NotInUse"],
    ],
  ])("when %s", (_, more, expected) => {
    expect(stated("Ready", more).slice(0, expected.length)).toEqual(expected);
  });

  it("is apart from Degraded, which names each kind that is not followed, and no other", () => {
    const follows = {
      "pods.": { state: "Degraded", reason: "Forbidden", message: "no list" },
      "cups.a.b": { state: "Following", reason: "", message: "" },
      "pots.a.b": { state: "Degraded", reason: "NotServed", message: "no kind" },
    } as NonNullable<Parameters<typeof functionConditions>[0]["status"]["follows"]>;
    expect(stated("Degraded", { status: { rollout: tried, follows } })).toEqual([
      ...["True", "KindsNotWatched", "pods.: Forbidden: no list; pots.a.b: NotServed: no kind"],
    ]);
    expect(stated("Ready", { status: { rollout: tried, follows } })[0]).toBe("True");
    expect(stated("Degraded", {})).toEqual(["False", "AllKindsWatched", ""]);
  });
});
