import { objectKey } from "@drover/controller";
import type { Mapping } from "./mapping.ts";
import type { MappingResults, ObjectEvent, ResourceRef } from "@drover/kube";
import type { QueueTime } from "@drover/queue";
import { describe, expect, it } from "vitest";
import type { ReverseIndexes } from "../store/reverse-indexes.ts";
import type { Subscriber } from "../streams/plan-streams.ts";
import { type EventContext, wakesOf, mergedWakes } from "./wakes-of.ts";

const bucket: ResourceRef = {
  group: "s3.drover.dev",
  version: "v1",
  plural: "buckets",
  kind: "Bucket",
  namespaced: true,
};
const key = (name: string) => objectKey({ namespace: "default", name });
const photos = key("photos");
const metadata = { name: "photos", uid: "u1", resourceVersion: "7" };
const own: Subscriber = {
  controller: "buckets",
  queue: "buckets",
  subscription: { id: "own", for: bucket, map: { by: "self" } },
};
const matching = (view: string, ...keys: readonly string[]): MappingResults => ({
  own: { view, keys: keys.map(key) },
});
const seen = (matched: MappingResults, uid = "u1") => ({ key: photos, uid, resourceVersion: "6", matched });
const event = (fields: Partial<ObjectEvent>): ObjectEvent => ({
  type: "modified",
  key: photos,
  uid: "u1",
  resourceVersion: "7",
  object: undefined,
  matched: matching("a", "photos"),
  previous: undefined,
  missed: false,
  ...fields,
});
/** The names that a lookup finds, by term. */
const filed: Readonly<Record<string, readonly string[]>> = { a: ["photos"], b: ["films", "photos"] };
const indexes: ReverseIndexes = {
  async *find(_ref, questions) {
    for (const question of questions)
      yield await Promise.resolve({
        question,
        keys: question.sought.flatMap((term) => filed[term] ?? []).map(key),
      });
  },
};
const wakes = async (
  events: readonly Partial<ObjectEvent>[],
  subscriber = own,
  moments: Pick<EventContext, "listedAfter" | "madeAfter"> = {},
) =>
  (
    await Array.fromAsync(wakesOf(events.map(event), subscriber, { ref: bucket, indexes, ...moments }))
  ).flat();
const woken = async (fields: Partial<ObjectEvent>, subscriber = own) =>
  (await wakes([fields], subscriber)).map(({ key: one, reason, class: of }) => `${of} ${reason} ${one}`);

describe("what wakes a key", () => {
  it("is an added, changed or deleted object, with the least version to read", async () => {
    expect(await wakes([{ type: "added" }])).toEqual([
      {
        key: photos,
        kind: "buckets.s3.drover.dev",
        resourceVersion: "7",
        uid: "u1",
        reason: "Added",
        class: "change",
        paused: false,
      },
    ]);
    expect(await woken({ previous: seen(matching("b", "photos")) })).toEqual([
      "change Modified default/photos",
    ]);
    expect(await woken({ type: "deleted", previous: seen(matching("a", "photos")) })).toEqual([
      "change Deleted default/photos",
    ]);
    expect(await woken({ type: "listed" })).toEqual(["listing Listed default/photos"]);
  });

  it("carries whether the object is paused by its annotation, and false if that is not known", async () => {
    const pausedOf = async (
      fields: Partial<ObjectEvent>,
      annotations: Readonly<Record<string, string>> | undefined,
      ref = bucket,
      map: Mapping = { by: "self" },
    ) => {
      const object = {
        apiVersion: "v1",
        kind: "PartialObjectMetadata",
        metadata: { ...metadata, ...(annotations && { annotations }) },
      };
      const of: Subscriber = { ...own, subscription: { ...own.subscription, map } };
      const wakes = await Array.fromAsync(wakesOf([event({ object, ...fields })], of, { ref, indexes }));
      return wakes.flat().map(({ paused }) => paused);
    };
    const paused = { "drover.dev/paused": "true" };
    expect(await pausedOf({}, paused)).toEqual([true]);
    expect(await pausedOf({ type: "listed" }, paused)).toEqual([true]);
    expect(await pausedOf({}, { "drover.dev/paused": "yes" })).toEqual([false]);
    expect(await pausedOf({}, undefined)).toEqual([false]);
    expect(await pausedOf({ object: undefined }, paused)).toEqual([false]);
    expect(await pausedOf({ type: "deleted" }, paused)).toEqual([false]);
    // An object of another kind does not pause the key.
    expect(await pausedOf({}, paused, bucket, { by: "owner" })).toEqual([undefined]);
    const functions = { ...bucket, group: "drover.dev", plural: "reconcilefunctions" };
    expect(await pausedOf({}, paused, functions)).toEqual([false]);
  });

  it("carries the cached object, of a change or a list, if that is requested", async () => {
    const object = {
      apiVersion: "s3.drover.dev/v1",
      kind: "Bucket",
      spec: { size: 1 },
      metadata: { ...metadata, managedFields: [{}] },
    };
    const asking: Subscriber = { ...own, subscription: { ...own.subscription, copies: true } };
    const brought = async (fields: Partial<ObjectEvent>, subscriber = asking) =>
      (await wakes([{ object, previous: seen(matching("b", "photos")), ...fields }], subscriber)).map(
        ({ cachedObject }) => cachedObject,
      );
    const copy = JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
    expect(await brought({})).toEqual([copy]);
    expect(await brought({}, own)).toEqual([undefined]);
    expect(await brought({ type: "added", previous: undefined })).toEqual([undefined]);
    expect(await brought({ type: "deleted" })).toEqual([undefined]);
    expect(await brought({ type: "listed", previous: undefined })).toEqual([undefined]);
    const moment: QueueTime = { incarnation: "e", at: 7 };
    const withMoment = async (type: ObjectEvent["type"], moments: Parameters<typeof wakes>[2]) =>
      (await wakes([{ object, type }], asking, moments)).map((wake) => [wake.cachedObject, wake.newestAfter]);
    expect(await withMoment("listed", { listedAfter: moment })).toEqual([[copy, moment]]);
    const older = { listedAfter: moment, madeAfter: { version: "7", moment } };
    expect(await withMoment("added", older)).toEqual([[undefined, undefined]]);
    expect(await withMoment("modified", older)).toEqual([[copy, undefined]]);
    const newer = { madeAfter: { version: "6", moment } };
    for (const type of ["listed", "added", "modified"] as const)
      expect(await withMoment(type, newer)).toEqual([[copy, moment]]);
    expect(await withMoment("deleted", newer)).toEqual([[undefined, undefined]]);
    const added = { object, type: "added", previous: undefined } as const;
    const created = await wakes([{ ...added, created: true }], asking, newer);
    expect(created).toMatchObject([{ created: true, newestAfter: moment }]);
    const selected = { ...newer, labelSelector: "a=b" };
    expect((await wakes([{ ...added, created: true }], asking, selected))[0]).not.toHaveProperty("created");
    expect((await wakes([added], asking, newer))[0]).not.toHaveProperty("created");
    expect(await brought({ object: { ...object, spec: "long ".repeat(4_000) } })).toEqual([undefined]);
  });

  it("carries the delta of an object of a cached kind, unless that is too long", async () => {
    const object = { apiVersion: "v1", kind: "Pod", spec: { size: 1 }, metadata };
    const knows: Subscriber = {
      ...own,
      subscription: { id: "own", for: bucket, map: { by: "owner" }, deltas: true },
    };
    const carried = async (fields: Partial<ObjectEvent>, subscriber = knows) =>
      (await wakes([{ object, ...fields }], subscriber)).map(({ delta, uid, cachedObject }) => [
        delta,
        uid,
        cachedObject,
      ]);
    const of = { kind: "buckets.s3.drover.dev", key: photos, resourceVersion: "7" };
    const whole = [[JSON.stringify({ ...of, object }), undefined, undefined]];
    for (const type of ["listed", "added", "modified"] as const)
      expect(await carried({ type })).toEqual(whole);
    expect(await carried({ type: "deleted" })).toEqual([[JSON.stringify(of), undefined, undefined]]);
    const long = { ...object, spec: "long ".repeat(4_000) };
    expect(await carried({ object: long })).toEqual([["", undefined, undefined]]);
    expect(await carried({ object: undefined })).toEqual([["", undefined, undefined]]);
    expect(await carried({}, own)).toEqual([[undefined, "u1", undefined]]);
  });

  it("is not a change outside of the view", async () => {
    expect(await woken({ previous: seen(matching("a", "photos")) })).toEqual([]);
  });

  it("is given as a reason with the kind and key of another object", async () => {
    const pod: ResourceRef = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
    const reasons = async (fields: Partial<ObjectEvent>) =>
      (await Array.fromAsync(wakesOf([event(fields)], own, { ref: pod, indexes })))
        .flat()
        .map(({ reason }) => reason);
    expect(await reasons({})).toEqual(["Modified Pod default/photos"]);
    expect(await reasons({ type: "deleted", key: key("p-1") })).toEqual(["Deleted Pod default/p-1"]);
    expect(await reasons({ type: "listed" })).toEqual(["Listed"]);
  });

  it("includes the keys that the object mapped to before, and those that it maps to now", async () => {
    expect(await woken({ matched: matching("a", "new"), previous: seen(matching("a", "old")) })).toEqual([
      "change Modified Bucket default/photos default/new",
      "change Modified Bucket default/photos default/old",
    ]);
  });

  it("includes that an object is no longer selected, or is selected again", async () => {
    expect(await woken({ matched: {}, previous: seen(matching("a", "photos")) })).toEqual([
      "change Modified default/photos",
    ]);
    expect(await woken({ previous: seen({}) })).toEqual(["change Modified default/photos"]);
    expect(await woken({ matched: {}, previous: seen({}) })).toEqual([]);
  });

  it("includes a deletion that only a list shows, with the last seen keys", async () => {
    expect(await woken({ type: "deleted", matched: {}, previous: seen(matching("a", "photos")) })).toEqual([
      "change Deleted default/photos",
    ]);
  });

  it("includes another object under the same name, even with the same view", async () => {
    expect(await woken({ type: "added", previous: seen(matching("a", "photos"), "old") })).toEqual([
      "change Added default/photos",
    ]);
  });

  it("is a listed object for new subscriptions only", async () => {
    const late: Subscriber = { ...own, subscription: { ...own.subscription, id: "late" } };
    const listed: Partial<ObjectEvent> = {
      type: "listed",
      matched: { ...matching("a", "photos"), late: { view: "a", keys: [photos] } },
      previous: seen(matching("a", "photos")),
    };
    expect(await woken(listed, late)).toEqual(["listing Listed default/photos"]);
    expect(await woken(listed)).toEqual([]);
    // A change that only a list shows is still a change for earlier subscriptions, with its urgency.
    const before = { ...listed, previous: seen(matching("b", "photos")) };
    expect(await woken(before)).toEqual(["change Modified default/photos"]);
    expect(await woken(before, late)).toEqual(["listing Listed default/photos"]);
  });
});

it("an event wakes a key once for several subscribers", async () => {
  const object = { apiVersion: "s3.drover.dev/v1", kind: "Bucket", metadata };
  const asking: Subscriber = { ...own, subscription: { ...own.subscription, copies: true } };
  const owner: Subscriber = { ...own, subscription: { ...own.subscription, map: { by: "owner" } } };
  const changed = event({ object, previous: seen(matching("b", "photos")) });
  const pieces = await Array.fromAsync(
    mergedWakes([changed], [asking, owner, own], { ref: bucket, indexes }),
  );
  expect(pieces).toMatchObject([[{ key: photos, uid: "u1", cachedObject: JSON.stringify(object) }]]);
});

describe("a wake of a subscription with batchFor", () => {
  const batching = (batchFor: number): Subscriber => ({
    ...own,
    subscription: { ...own.subscription, map: { by: "owner" }, batchFor },
  });
  const changed = event({ previous: seen(matching("b", "photos")) });
  const merged = async (...subscribers: readonly Subscriber[]) =>
    (await Array.fromAsync(mergedWakes([changed], subscribers, { ref: bucket, indexes })))
      .flat()
      .map(({ after }) => after);

  it("waits", async () => {
    expect(await merged(batching(1_000))).toEqual([1_000]);
  });
  it("waits for the shortest time of several", async () => {
    expect(await merged(batching(2_000), batching(1_000))).toEqual([1_000]);
    expect(await merged(batching(1_000), batching(2_000))).toEqual([1_000]);
  });
  it("does not wait if a subscription without it has the change, too", async () => {
    expect(await merged(batching(1_000), own)).toEqual([undefined]);
    expect(await merged(own, batching(1_000))).toEqual([undefined]);
  });
});

it("a wake by another object carries no uid", async () => {
  const owner: Subscriber = { ...own, subscription: { ...own.subscription, map: { by: "owner" } } };
  const [wake] = await wakes([{ type: "added" }], owner);
  expect(wake).not.toHaveProperty("uid");
});

describe("keys that are looked up", () => {
  const looking = (map: Mapping): Subscriber => ({
    ...own,
    subscription: { ...own.subscription, map },
    looksInto: [{ stream: "buckets", index: "f" }],
  });
  const seeks = (...sought: readonly string[]): MappingResults => ({
    own: { view: sought.join(), keys: [], sought },
  });

  it("are those of the object's lookup terms before and now", async () => {
    const selected = looking({ by: "selectedBy", within: "namespace" });
    expect(await woken({ matched: seeks("a") }, selected)).toEqual(["change Modified default/photos"]);
    expect(await woken({ matched: seeks("none"), previous: seen(seeks("b")) }, selected)).toEqual([
      "change Modified Bucket default/photos default/films",
      "change Modified default/photos",
    ]);
    expect(await woken({ matched: seeks("a"), previous: seen(seeks("a")) }, selected)).toEqual([]);
  });

  it("are woken once for several events, unless the wakes carry the delta of each", async () => {
    const all = looking({ by: "all", within: "cluster" });
    const events = ["8", "9"].map((resourceVersion) => ({ matched: seeks("b"), resourceVersion }));
    const versions = async (subscriber: Subscriber) =>
      (await wakes(events, subscriber)).map(({ key: of, resourceVersion }) => [of, resourceVersion]);
    const films = key("films");
    expect(await versions(all)).toEqual([films, photos].map((of) => [of, "9"]));
    const withDelta = { ...all, subscription: { ...all.subscription, deltas: true } };
    expect(await versions(withDelta)).toEqual(
      [films, photos].flatMap((of) => ["8", "9"].map((version) => [of, version])),
    );
  });
});
