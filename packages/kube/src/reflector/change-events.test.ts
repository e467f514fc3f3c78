import { describe, expect, test } from "vitest";
import { keyOf, kubeObjectSchema } from "../objects/kube-object.ts";
import { bucketObject } from "../testing/objects.ts";
import { changeEvents, deletionEvent, type ObservedObject } from "./change-events.ts";
import type { SeenObject } from "./seen-index.ts";

const object = (uid: string, resourceVersion: string) =>
  kubeObjectSchema.parse(bucketObject("a", { uid, resourceVersion, generation: 1 }));
const of = (uid: string, version: string, subscriptions = ["self"]) => ({
  object: object(uid, version),
  matched: Object.fromEntries(
    subscriptions.map((id) => [id, { keys: [keyOf(object(uid, version))], view: version }]),
  ),
});
const watched = (uid: string, version: string): ObservedObject => ({
  by: "watch",
  is: "present",
  ...of(uid, version),
});
const deleted = (uid: string, version: string): ObservedObject => ({
  by: "watch",
  is: "deleted",
  ...of(uid, version),
});
type Listed = Extract<ObservedObject, { by: "listing" }>;
const listed = (uid: string, version: string, more: Partial<Listed> = {}): ObservedObject => ({
  by: "listing",
  is: "present",
  first: false,
  believed: false,
  watchedUpTo: undefined,
  ...of(uid, version),
  ...more,
});
const seen = (uid: string, resourceVersion: string): SeenObject => {
  const [event] = changeEvents(undefined, watched(uid, resourceVersion));
  if (event === undefined) throw new Error("no event");
  return { key: event.key, uid, resourceVersion, matched: event.matched };
};

const emitted = (before: readonly [uid: string, version: string] | undefined, observed: ObservedObject) =>
  changeEvents(before && seen(...before), observed).map(
    ({ type, uid, resourceVersion, missed }) =>
      `${missed ? "missed: " : ""}${type} ${uid}@${resourceVersion}`,
  );

describe("a key that was not seen", () => {
  test("is listed by the first list, and added by later ones", () => {
    expect(emitted(undefined, listed("u", "5", { first: true }))).toEqual(["listed u@5"]);
    expect(emitted(undefined, listed("u", "5"))).toEqual(["added u@5"]);
    expect(emitted(undefined, watched("u", "5"))).toEqual(["added u@5"]);
  });

  test("that is deleted is still emitted: its addition may have been missed", () => {
    expect(emitted(undefined, deleted("u", "5"))).toEqual(["deleted u@5"]);
  });

  test("that matches no subscription is not emitted", () => {
    expect(emitted(undefined, { ...watched("u", "5"), matched: {} })).toEqual([]);
  });
});

describe("the same object", () => {
  test("is emitted once per version", () => {
    expect(emitted(["u", "5"], watched("u", "6"))).toEqual(["modified u@6"]);
    expect(emitted(["u", "5"], watched("u", "5"))).toEqual([]);
  });

  test("never goes back, unless the list is accepted as a restored state", () => {
    expect(emitted(["u", "5"], watched("u", "4"))).toEqual([]);
    expect(emitted(["u", "5"], listed("u", "4"))).toEqual([]);
    expect(emitted(["u", "5"], listed("u", "4", { believed: true }))).toEqual(["modified u@4"]);
  });

  test("with a version that is not a number differs if the text does", () => {
    expect(emitted(["u", "b"], watched("u", "a"))).toEqual(["modified u@a"]);
  });

  test("is deleted with its last version or a newer one, not an older one", () => {
    expect(emitted(["u", "5"], deleted("u", "5"))).toEqual(["deleted u@5"]);
    expect(emitted(["u", "5"], deleted("u", "6"))).toEqual(["deleted u@6"]);
    expect(emitted(["u", "5"], deleted("u", "4"))).toEqual([]);
  });

  test("is emitted once more when it no longer matches any subscription", () => {
    expect(emitted(["u", "5"], { ...watched("u", "6"), matched: {} })).toEqual(["modified u@6"]);
  });

  test("is listed once more for a new subscription", () => {
    expect(emitted(["u", "5"], listed("u", "5", of("u", "5", ["self", "late"])))).toEqual(["listed u@5"]);
    expect(emitted(["u", "5"], listed("u", "5", of("u", "5", [])))).toEqual([]);
  });
});

describe("a change that a list finds up to the version of the watch", () => {
  test("was missed", () => {
    expect(emitted(undefined, listed("u", "5", { watchedUpTo: "5" }))).toEqual(["missed: added u@5"]);
    expect(emitted(["u", "4"], listed("u", "5", { watchedUpTo: "7" }))).toEqual(["missed: modified u@5"]);
    expect(emitted(["old", "4"], listed("u", "5", { watchedUpTo: "7" }))).toEqual([
      "missed: deleted old@4",
      "missed: added u@5",
    ]);
  });

  test("was not missed if it is newer, in a first list, or from a restored server", () => {
    expect(emitted(undefined, listed("u", "8", { watchedUpTo: "7" }))).toEqual(["added u@8"]);
    expect(emitted(undefined, listed("u", "5", { watchedUpTo: "7", first: true }))).toEqual(["listed u@5"]);
    expect(emitted(["u", "6"], listed("u", "5", { watchedUpTo: "7", believed: true }))).toEqual([
      "modified u@5",
    ]);
  });
});

describe("another uid under the same name", () => {
  test("is a deletion of the old object, and an addition of the new one with the old as previous", () => {
    expect(emitted(["old", "5"], watched("new", "9"))).toEqual(["deleted old@5", "added new@9"]);
    const [, added] = changeEvents(seen("old", "5"), watched("new", "9"));
    expect(added?.previous?.uid).toBe("old");
  });

  test("is ignored with an older version", () => {
    expect(emitted(["new", "9"], watched("old", "5"))).toEqual([]);
    expect(emitted(["new", "9"], deleted("old", "6"))).toEqual([]);
  });

  test("may already be deleted", () => {
    expect(emitted(["old", "5"], deleted("new", "9"))).toEqual(["deleted old@5", "deleted new@9"]);
    const previous = changeEvents(seen("old", "5"), deleted("new", "9")).map((event) => event.previous?.uid);
    expect(previous).toEqual(["old", undefined]);
  });
});

test("a deletion without an event has the last seen state", () => {
  expect(deletionEvent(seen("u", "5"), true)).toMatchObject({
    type: "deleted",
    uid: "u",
    resourceVersion: "5",
    object: undefined,
    missed: true,
    previous: { matched: { self: { keys: ["default/a"] } } },
  });
});
