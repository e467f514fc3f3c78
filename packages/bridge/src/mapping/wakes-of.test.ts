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
/** The keys that a lookup finds, by term. */
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
  it("is that its object comes, changes and goes, with the version to be at least as new as", async () => {
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

  it("says whether its object is paused by its annotation, and that it is not where that is not known", async () => {
    const said = async (
      fields: Partial<ObjectEvent>,
      annotations: Readonly<Record<string, string>> | undefined,
      ref = bucket,
      map: Mapping = { by: "self" },
    ) => {
      const metadata = {
        name: "photos",
        uid: "u1",
        resourceVersion: "7",
        ...(annotations && { annotations }),
      };
      const object = { apiVersion: "v1", kind: "PartialObjectMetadata", metadata };
      const of: Subscriber = { ...own, subscription: { ...own.subscription, map } };
      const found = await Array.fromAsync(wakesOf([event({ object, ...fields })], of, { ref, indexes }));
      return found.flat().map(({ paused }) => paused);
    };
    const paused = { "drover.dev/paused": "true" };
    expect(await said({}, paused)).toEqual([true]);
    expect(await said({ type: "listed" }, paused)).toEqual([true]);
    expect(await said({}, { "drover.dev/paused": "yes" })).toEqual([false]);
    expect(await said({}, undefined)).toEqual([false]);
    expect(await said({ object: undefined }, paused)).toEqual([false]);
    expect(await said({ type: "deleted" }, paused)).toEqual([false]);
    // Of another kind it says nothing about the key.
    expect(await said({}, paused, bucket, { by: "owner" })).toEqual([undefined]);
    const functions = { ...bucket, group: "drover.dev", plural: "reconcilefunctions" };
    expect(await said({}, paused, functions)).toEqual([false]);
  });

  it("carries the cached object, of a change or a list, if that is requested", async () => {
    const object = {
      apiVersion: "s3.drover.dev/v1",
      kind: "Bucket",
      spec: { size: 1 },
      metadata: { name: "photos", uid: "u1", resourceVersion: "7", managedFields: [{}] },
    };
    const asking: Subscriber = { ...own, subscription: { ...own.subscription, copies: true } };
    const brought = async (fields: Partial<ObjectEvent>, subscriber = asking) =>
      (await wakes([{ object, previous: seen(matching("b", "photos")), ...fields }], subscriber)).map(
        ({ cachedObject: copy }) => copy,
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
    expect(await brought({ object: { ...object, spec: "long ".repeat(4_000) } })).toEqual([undefined]);
  });

  it("carries the delta of an object of a cached kind, unless that is too long", async () => {
    const object = {
      apiVersion: "v1",
      kind: "Pod",
      spec: { size: 1 },
      metadata: { name: "photos", uid: "u1", resourceVersion: "7" },
    };
    const knows: Subscriber = {
      ...own,
      subscription: { id: "own", for: bucket, map: { by: "owner" }, news: true },
    };
    const told = async (fields: Partial<ObjectEvent>, subscriber = knows) =>
      (await wakes([{ object, ...fields }], subscriber)).map(({ delta: news, uid, cachedObject: copy }) => [
        news,
        uid,
        copy,
      ]);
    const of = { kind: "buckets.s3.drover.dev", key: photos, resourceVersion: "7" };
    const whole = [[JSON.stringify({ ...of, object }), undefined, undefined]];
    for (const type of ["listed", "added", "modified"] as const) expect(await told({ type })).toEqual(whole);
    expect(await told({ type: "deleted" })).toEqual([[JSON.stringify(of), undefined, undefined]]);
    const long = { ...object, spec: "long ".repeat(4_000) };
    expect(await told({ object: long })).toEqual([["", undefined, undefined]]);
    expect(await told({ object: undefined })).toEqual([["", undefined, undefined]]);
    expect(await told({}, own)).toEqual([[undefined, "u1", undefined]]);
  });

  it("is not a change that does not matter", async () => {
    expect(await woken({ previous: seen(matching("a", "photos")) })).toEqual([]);
  });

  it("is in words which other object changed, and of what kind", async () => {
    const pod: ResourceRef = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
    const said = async (fields: Partial<ObjectEvent>) =>
      (await Array.fromAsync(wakesOf([event(fields)], own, { ref: pod, indexes })))
        .flat()
        .map(({ reason }) => reason);
    expect(await said({})).toEqual(["Modified Pod default/photos"]);
    expect(await said({ type: "deleted", key: key("p-1") })).toEqual(["Deleted Pod default/p-1"]);
    expect(await said({ type: "listed" })).toEqual(["Listed"]);
  });

  it("is what the object named before, and what it names now", async () => {
    expect(await woken({ matched: matching("a", "new"), previous: seen(matching("a", "old")) })).toEqual([
      "change Modified Bucket default/photos default/new",
      "change Modified Bucket default/photos default/old",
    ]);
  });

  it("is that an object is no longer selected, or is again", async () => {
    expect(await woken({ matched: {}, previous: seen(matching("a", "photos")) })).toEqual([
      "change Modified default/photos",
    ]);
    expect(await woken({ previous: seen({}) })).toEqual(["change Modified default/photos"]);
    expect(await woken({ matched: {}, previous: seen({}) })).toEqual([]);
  });

  it("is a deletion without an event, from the last seen state", async () => {
    expect(await woken({ type: "deleted", matched: {}, previous: seen(matching("a", "photos")) })).toEqual([
      "change Deleted default/photos",
    ]);
  });

  it("is another object under the same name, whatever the old one was", async () => {
    expect(await woken({ type: "added", previous: seen(matching("a", "photos"), "old") })).toEqual([
      "change Added default/photos",
    ]);
  });

  it("is for who subscribed later that the object is there, and nothing for those who knew", async () => {
    const late: Subscriber = { ...own, subscription: { ...own.subscription, id: "late" } };
    const listed: Partial<ObjectEvent> = {
      type: "listed",
      matched: { ...matching("a", "photos"), late: { view: "a", keys: [photos] } },
      previous: seen(matching("a", "photos")),
    };
    expect(await woken(listed, late)).toEqual(["listing Listed default/photos"]);
    expect(await woken(listed)).toEqual([]);
    // A change that a list finds, for subscriptions that had the object, is a change, and as urgent.
    const before = { ...listed, previous: seen(matching("b", "photos")) };
    expect(await woken(before)).toEqual(["change Modified default/photos"]);
    expect(await woken(before, late)).toEqual(["listing Listed default/photos"]);
  });
});

it("what one event causes for several subscribers is one wake", async () => {
  const object = {
    apiVersion: "s3.drover.dev/v1",
    kind: "Bucket",
    metadata: { name: "photos", uid: "u1", resourceVersion: "7" },
  };
  const asking: Subscriber = { ...own, subscription: { ...own.subscription, copies: true } };
  const owner: Subscriber = { ...own, subscription: { ...own.subscription, map: { by: "owner" } } };
  const changed = event({ object, previous: seen(matching("b", "photos")) });
  const pieces = await Array.fromAsync(
    mergedWakes([changed], [asking, owner, own], { ref: bucket, indexes }),
  );
  expect(pieces).toMatchObject([[{ key: photos, uid: "u1", cachedObject: JSON.stringify(object) }]]);
});

it("a wake by another object says nothing of the uid", async () => {
  const owner: Subscriber = { ...own, subscription: { ...own.subscription, map: { by: "owner" } } };
  const [wake] = await wakes([{ type: "added" }], owner);
  expect(wake).not.toHaveProperty("uid");
});

describe("what is looked up", () => {
  const looking = (map: Mapping): Subscriber => ({
    ...own,
    subscription: { ...own.subscription, map },
    looksInto: [{ stream: "buckets", index: "f" }],
  });
  const seeks = (...sought: readonly string[]): MappingResults => ({
    own: { view: sought.join(), keys: [], sought },
  });

  it("are those whom an object was found by before, and those whom it is found by now", async () => {
    const selected = looking({ by: "selectedBy", within: "namespace" });
    expect(await woken({ matched: seeks("a") }, selected)).toEqual(["change Modified default/photos"]);
    expect(await woken({ matched: seeks("none"), previous: seen(seeks("b")) }, selected)).toEqual([
      "change Modified Bucket default/photos default/films",
      "change Modified default/photos",
    ]);
    expect(await woken({ matched: seeks("a"), previous: seen(seeks("a")) }, selected)).toEqual([]);
  });

  it("are woken once, however many events ask the same, unless they carry the delta of each", async () => {
    const all = looking({ by: "all", within: "cluster" });
    const events = ["8", "9"].map((resourceVersion) => ({ matched: seeks("b"), resourceVersion }));
    const versions = async (subscriber: Subscriber) =>
      (await wakes(events, subscriber)).map(({ key: of, resourceVersion }) => [of, resourceVersion]);
    const films = key("films");
    expect(await versions(all)).toEqual([films, photos].map((of) => [of, "9"]));
    const withDelta = { ...all, subscription: { ...all.subscription, news: true } };
    expect(await versions(withDelta)).toEqual(
      [films, photos].flatMap((of) => ["8", "9"].map((version) => [of, version])),
    );
  });
});
