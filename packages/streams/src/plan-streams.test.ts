import { queueOf } from "@drover/controller";
import type { ResourceRef, Subscription } from "@drover/kube";
import { describe, expect, it } from "vitest";
import { planStreams, type StreamPlan } from "./plan-streams.ts";
import type { Follower } from "./follows-of.ts";

const ref = (group: string, plural: string): ResourceRef => ({
  ...{ group, plural, version: "v1", kind: plural },
  namespaced: true,
});
const pods = ref("", "pods");
const buckets = ref("s3.drover.dev", "buckets");
const follow = (of: ResourceRef, more: Partial<Subscription> = {}) => ({
  ref: of,
  subscription: { for: of, map: { by: "self" }, ...more } as const,
});
const registration = (controller: string, ...follows: Follower["follows"]): Follower => ({
  ...{ controller, follows },
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
const listeners = (...given: Parameters<typeof plan>) => plan(...given).audience.listeners;

describe("streams", () => {
  it("are one per kind, however many controllers follow it", () => {
    const plans = planStreams(
      [registration("a", follow(pods), follow(buckets)), registration("b", follow(pods))],
      origins,
    );
    expect(
      plans.map(({ stream, listeners: who }) => [stream, who.map(({ controller }) => controller)]),
    ).toEqual([
      ["v1/pods", ["a", "b"]],
      ["s3.drover.dev/v1/buckets", ["a"]],
    ]);
  });

  it("leave out a controller whose queue is not open yet", () => {
    expect(plan([registration("a", follow(pods)), registration("c", follow(pods))]).listeners).toHaveLength(
      1,
    );
  });

  it("ask the server for what all listeners want only", () => {
    const on = { matchLabels: { on: "yes" } };
    const one = follow(pods, { selector: on, namespaces: ["x"] });
    expect(plan([registration("a", one), registration("b", one)])).toMatchObject({
      namespace: "x",
      labelSelector: "on=yes",
    });
    expect(plan([registration("a", one), registration("b", follow(pods))])).toMatchObject({
      namespace: undefined,
      labelSelector: undefined,
    });
    expect(plan([registration("a", follow(pods, { selector: {}, namespaces: ["x", "y"] }))])).toMatchObject({
      namespace: undefined,
      labelSelector: undefined,
    });
  });
});

describe("a listener", () => {
  const same = registration("a", follow(pods));

  it("stays who it is", () => {
    expect(listeners([same])).toEqual(listeners([registration("a", follow(pods))]));
  });

  it.each<[string, Follower, ReadonlyMap<string, string>]>([
    ["declared differently", registration("a", follow(pods, { namespaces: ["x", "y"] })), origins],
    ["whose queue lost all that it held", same, new Map([["a", "2"]])],
    ["of another controller", registration("b", follow(pods)), origins],
  ])("is another one when it is %s", (_what, other, of) => {
    expect(listeners([other], of)).not.toEqual(listeners([same]));
  });

  it("is another one when the ReconcileFunction is made again under its name", () => {
    const [one, two] = ["1", "2"].map((uid) => queueOf({ namespace: "web", name: "a", uid }));
    const both = new Map([one, two].map((queue) => [queue ?? "", "1"]));
    const of = (queue = "") => listeners([registration(queue, follow(pods))], both);
    expect(of(one)).not.toEqual(of(two));
  });
});
