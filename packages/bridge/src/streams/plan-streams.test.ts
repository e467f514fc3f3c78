import { queueOf } from "@drover/controller";
import { parseFieldPath } from "@drover/controller";
import type { ResourceRef } from "@drover/kube";
import type { Subscription } from "../mapping/subscription.ts";
import { describe, expect, it } from "vitest";
import { planStreams, streamOf, type StreamPlan } from "./plan-streams.ts";
import type { Follower } from "../mapping/follows-of.ts";

const ref = (group: string, plural: string): ResourceRef => ({
  group,
  plural,
  version: "v1",
  kind: plural,
  namespaced: true,
});
const pods = ref("", "pods");
const buckets = ref("s3.drover.dev", "buckets");
const follow = (of: ResourceRef, more: Partial<Subscription> = {}) => ({
  ref: of,
  subscription: { for: of, map: { by: "self" }, ...more } as const,
});
const registration = (controller: string, ...follows: Follower["follows"]): Follower => ({
  controller,
  follows,
});
const origins = new Map([
  ["a", "1"],
  ["b", "1"],
]);
const plan = (registrations: readonly Follower[], of: ReadonlyMap<string, string> = origins): StreamPlan => {
  const [found, ...others] = planStreams(registrations, of);
  if (found === undefined || others.length > 0) throw new Error("not one stream");
  return found;
};
const listeners = (...given: Parameters<typeof plan>) => plan(...given).subscriberSet.listeners;

describe("streams", () => {
  it("are one per kind, however many controllers follow it", () => {
    const plans = planStreams(
      [registration("a", follow(pods), follow(buckets)), registration("b", follow(pods))],
      origins,
    );
    expect(
      plans.map(({ stream, subscribers }) => [stream, subscribers.map(({ controller }) => controller)]),
    ).toEqual([
      ['["","v1","pods","pods","Namespaced"]', ["a", "b"]],
      ['["s3.drover.dev","v1","buckets","buckets","Namespaced"]', ["a"]],
    ]);
  });

  it("are the same for any order of their followers, so that a held stream is not released", () => {
    const followers = [registration("a", follow(pods)), registration("b", follow(pods))];
    expect(plan(followers.toReversed()).subscriberSet).toEqual(plan(followers).subscriberSet);
  });

  it("leave out a controller without an open queue", () => {
    expect(plan([registration("a", follow(pods)), registration("c", follow(pods))]).subscribers).toHaveLength(
      1,
    );
  });

  it("select by labels only if all subscribers have the same selector", () => {
    const on = { matchLabels: { on: "yes" } };
    const one = follow(pods, { selector: on });
    expect(plan([registration("a", one), registration("b", one)])).toMatchObject({ labelSelector: "on=yes" });
    expect(plan([registration("a", one), registration("b", follow(pods))])).toMatchObject({
      labelSelector: undefined,
    });
    expect(plan([registration("a", follow(pods, { selector: {} }))])).toMatchObject({
      labelSelector: undefined,
    });
  });

  it("are one for each declared namespace, and one of all namespaces for subscribers that declare none", () => {
    const plans = planStreams(
      [
        registration("a", follow(pods, { namespaces: ["x", "y"] })),
        registration("b", follow(pods, { namespaces: ["y"] })),
      ],
      origins,
    );
    const places = (all: readonly StreamPlan[]) =>
      all.map(({ namespace, subscribers }) => [
        namespace,
        subscribers.map(({ controller, subscription }) => `${controller} ${String(subscription.namespaces)}`),
      ]);
    expect(places(plans)).toEqual([
      ["x", ["a x"]],
      ["y", ["a y", "b y"]],
    ]);
    const all = registration("b", follow(pods));
    expect(
      places(planStreams([registration("a", follow(pods, { namespaces: ["x"] })), all], origins)),
    ).toEqual([
      ["x", ["a x"]],
      [undefined, ["b undefined"]],
    ]);
  });

  it("are not changed when another one is removed", () => {
    const ids = (namespaces: readonly string[]) =>
      planStreams([registration("a", follow(pods, { namespaces }))], origins).map(
        ({ subscriberSet }) => subscriberSet,
      );
    expect(ids(["x", "y"])[0]).toEqual(ids(["x"])[0]);
  });

  it.each<[string, Partial<ResourceRef>, Partial<ResourceRef>]>([
    ["group and version that only look the same together", { version: "apps/v1" }, { group: "apps" }],
    [
      "version and plural that only look the same together",
      { version: "v1/pods", plural: "x" },
      { version: "v1", plural: "pods/x" },
    ],
    ["kind", { kind: "Pod" }, { kind: "Gadget" }],
    ["scope", {}, { namespaced: false }],
    ["the syntax of JSON", { kind: 'Pod","Namespaced"]' }, { kind: "Pod" }],
  ])("are not shared by kinds that differ in %s", (_what, one, other) => {
    const of = (part: Partial<ResourceRef>) => follow({ ...pods, ...part });
    const plans = planStreams([registration("a", of(one)), registration("b", of(other))], origins);
    expect(plans.map(({ ref: { namespaced, ...found } }) => [found, namespaced])).toEqual(
      [one, other].map((part) => {
        const { namespaced, ...found } = { ...pods, ...part };
        return [found, namespaced];
      }),
    );
    expect(new Set(plans.map(({ stream }) => stream)).size).toBe(2);
  });

  it("have names that are no prefixes of each other", () => {
    const names = [{}, { kind: 'pods","x' }, { plural: "p" }].flatMap((part) =>
      ["x", undefined].map((namespace) => streamOf({ ref: { ...pods, ...part }, namespace })),
    );
    for (const a of names) for (const b of names) expect(a !== b && a.startsWith(b)).toBe(false);
  });
});

describe("a subscriber", () => {
  const same = registration("a", follow(pods));

  it("keeps its identity if nothing has changed", () => {
    expect(listeners([same])).toEqual(listeners([registration("a", follow(pods))]));
  });

  it.each<[string, Follower, ReadonlyMap<string, string>]>([
    ["declared differently", registration("a", follow(pods, { selector: {} })), origins],
    ["with a queue that lost its data", same, new Map([["a", "2"]])],
    ["of another controller", registration("b", follow(pods)), origins],
  ])("is another one if it is %s", (_what, other, of) => {
    expect(listeners([other], of)).not.toEqual(listeners([same]));
  });

  it("wakes the keys of the queue that it names, and is another one if that lost its data", () => {
    const asking = registration("a", { ...follow(pods), queue: "b" });
    expect(plan([asking]).subscriberSet.queues).toEqual(["b"]);
    const lost = new Map([...origins, ["b", "2"]]);
    expect(listeners([asking], lost)).not.toEqual(listeners([asking]));
    expect(listeners([registration("a", follow(pods))], lost)).toEqual(listeners([same]));
    expect(planStreams([asking], new Map([["a", "1"]]))).toEqual([]);
  });

  it("is another one for each index that it uses", () => {
    const indexFollow = (path: string) =>
      follow(buckets, { map: { by: "selects", path: parseFieldPath(path), within: "namespace" } });
    const lookup = (path: string) => ({
      ...follow(pods, { map: { by: "selectedBy", within: "namespace" } }),
      looksInto: indexFollow(path),
    });
    const both = registration(
      "a",
      indexFollow("spec.a"),
      lookup("spec.a"),
      indexFollow("spec.b"),
      lookup("spec.b"),
    );
    const plans = planStreams([both], origins);
    const subscribers = (of: ResourceRef) =>
      plans.find(({ ref: { plural } }) => plural === of.plural)?.subscribers ?? [];
    const indexes = subscribers(buckets).map(({ subscription: { id } }) => id);
    expect(new Set(indexes).size).toBe(2);
    expect(subscribers(pods).map(({ looksInto }) => looksInto?.map(({ index }) => index))).toEqual(
      indexes.map((index) => [index]),
    );
  });

  it("is another one if the ReconcileFunction is created again under its name", () => {
    const [one, two] = ["1", "2"].map((uid) => queueOf({ namespace: "web", name: "a", uid }));
    const both = new Map([one, two].map((queue) => [queue ?? "", "1"]));
    const of = (queue = "") => listeners([registration(queue, follow(pods))], both);
    expect(of(one)).not.toEqual(of(two));
  });
});
