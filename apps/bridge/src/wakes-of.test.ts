import { objectKey } from "@drover/controller";
import type { Meanings, ObjectEvent, ResourceRef } from "@drover/kube";
import { describe, expect, it } from "vitest";
import type { Listener } from "./plan-streams.ts";
import { wakesOf } from "./wakes-of.ts";

const bucket: ResourceRef = {
  ...{ group: "s3.drover.dev", version: "v1", plural: "buckets", kind: "Bucket" },
  namespaced: true,
};
const key = (name: string) => objectKey({ namespace: "default", name });
const photos = key("photos");
const own: Listener = {
  controller: "buckets",
  subscription: { id: "own", for: bucket, map: { by: "self" } },
};
const means = (view: string, ...keys: readonly string[]): Meanings => ({
  own: { view, keys: keys.map(key) },
});
const seen = (meant: Meanings, uid = "u1") => ({ key: photos, uid, resourceVersion: "6", meant });
const event = (fields: Partial<ObjectEvent>): ObjectEvent => ({
  ...{ type: "modified", key: photos, uid: "u1", resourceVersion: "7", object: undefined },
  ...{ means: means("a", "photos"), previous: undefined, missed: false },
  ...fields,
});
const woken = (fields: Partial<ObjectEvent>, listener = own) =>
  wakesOf(event(fields), listener, bucket).map(({ key: one, reason, class: of }) => `${of} ${reason} ${one}`);

describe("what wakes a key", () => {
  it("is that its object comes, changes and goes, with the version to be at least as new as", () => {
    expect(wakesOf(event({ type: "added" }), own, bucket)).toEqual([
      {
        ...{ key: photos, kind: "buckets.s3.drover.dev", resourceVersion: "7", uid: "u1" },
        ...{ reason: "Added", class: "change" },
      },
    ]);
    expect(woken({ previous: seen(means("b", "photos")) })).toEqual(["change Modified default/photos"]);
    expect(woken({ type: "deleted", previous: seen(means("a", "photos")) })).toEqual([
      "change Deleted default/photos",
    ]);
    expect(woken({ type: "listed" })).toEqual(["listing Listed default/photos"]);
  });

  it("is not a change that does not matter", () => {
    expect(woken({ previous: seen(means("a", "photos")) })).toEqual([]);
  });

  it("is what the object named before, and what it names now", () => {
    expect(woken({ means: means("a", "new"), previous: seen(means("a", "old")) })).toEqual([
      "change Modified default/new",
      "change Modified default/old",
    ]);
  });

  it("is that an object is no longer selected, or is again", () => {
    expect(woken({ means: {}, previous: seen(means("a", "photos")) })).toEqual([
      "change Modified default/photos",
    ]);
    expect(woken({ previous: seen({}) })).toEqual(["change Modified default/photos"]);
    expect(woken({ means: {}, previous: seen({}) })).toEqual([]);
  });

  it("is an end that nobody told of, through what was seen", () => {
    expect(woken({ type: "deleted", means: {}, previous: seen(means("a", "photos")) })).toEqual([
      "change Deleted default/photos",
    ]);
  });

  it("is another object under the same name, whatever the old one was", () => {
    expect(woken({ type: "added", previous: seen(means("a", "photos"), "old") })).toEqual([
      "change Added default/photos",
    ]);
  });

  it("is for who subscribed later that the object is there, and nothing for those who knew", () => {
    const late: Listener = { ...own, subscription: { ...own.subscription, id: "late" } };
    const listed: Partial<ObjectEvent> = {
      type: "listed",
      means: { ...means("a", "photos"), late: { view: "a", keys: [photos] } },
      previous: seen(means("a", "photos")),
    };
    expect(woken(listed, late)).toEqual(["listing Listed default/photos"]);
    expect(woken(listed)).toEqual([]);
  });
});

it("a wake by another object says nothing of the uid", () => {
  const owner: Listener = { ...own, subscription: { ...own.subscription, map: { by: "owner" } } };
  const [wake] = wakesOf(event({ type: "added" }), owner, bucket);
  expect(wake).not.toHaveProperty("uid");
});
