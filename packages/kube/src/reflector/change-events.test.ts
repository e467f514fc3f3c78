import { describe, expect, test } from "vitest";
import { keyOf, kubeObjectSchema } from "../objects/kube-object.ts";
import { bucketObject } from "../testing/objects.ts";
import { changeEvents, deletionEvent, type ObservedObject } from "./change-events.ts";
import type { SeenObject } from "./seen-index.ts";

const object = (uid: string, resourceVersion: string) =>
  kubeObjectSchema.parse(bucketObject("a", { uid, resourceVersion, generation: 1 }));
const of = (uid: string, version: string, subscriptions: readonly string[] = ["self"]) => ({
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
/** Listed as version `version`, after a watch that has shown all changes up to `watchedUpTo`. */
const foundAt = (version: string, watchedUpTo?: string, more: Partial<Listed> = {}) =>
  listed("u", version, { watchedUpTo, ...more });
/** Listed by a server that was restored to an older state. */
const restored = (version: string, watchedUpTo?: string) => foundAt(version, watchedUpTo, { believed: true });
const listedFor = (...subscriptions: readonly string[]) => listed("u", "5", of("u", "5", subscriptions));
const unmatched = { ...watched("u", "6"), matched: {} };
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

type Case = readonly [string, Parameters<typeof emitted>[0], ObservedObject, readonly string[]];
const cases: Readonly<Record<string, readonly Case[]>> = {
  "a key that was not seen": [
    ["is listed by the first list", undefined, listed("u", "5", { first: true }), ["listed u@5"]],
    ["is added by a later list", undefined, listed("u", "5"), ["added u@5"]],
    ["is added by a watch", undefined, watched("u", "5"), ["added u@5"]],
    ["is emitted as deleted: its addition may be missed", undefined, deleted("u", "5"), ["deleted u@5"]],
    ["is not emitted if no subscription matches", undefined, { ...watched("u", "5"), matched: {} }, []],
  ],
  "the same object": [
    ["is emitted with a newer version", ["u", "5"], watched("u", "6"), ["modified u@6"]],
    ["is not emitted twice with one version", ["u", "5"], watched("u", "5"), []],
    ["never goes back in a watch", ["u", "5"], watched("u", "4"), []],
    ["never goes back in a list", ["u", "5"], listed("u", "4"), []],
    ["goes back if the server was restored", ["u", "5"], restored("4"), ["modified u@4"]],
    ["differs by the text of an incomparable version", ["u", "b"], watched("u", "a"), ["modified u@a"]],
    ["is deleted with its last version", ["u", "5"], deleted("u", "5"), ["deleted u@5"]],
    ["is deleted with a newer version", ["u", "5"], deleted("u", "6"), ["deleted u@6"]],
    ["is not deleted with an older version", ["u", "5"], deleted("u", "4"), []],
    ["is emitted once more when it matches no more", ["u", "5"], unmatched, ["modified u@6"]],
    ["is listed once more for a new subscription", ["u", "5"], listedFor("self", "late"), ["listed u@5"]],
    ["is not listed once more for fewer subscriptions", ["u", "5"], listedFor(), []],
  ],
  "a change that a list finds up to the version of the watch": [
    ["was missed: a new object", undefined, foundAt("5", "5"), ["missed: added u@5"]],
    ["was missed: a change", ["u", "4"], foundAt("5", "7"), ["missed: modified u@5"]],
    [
      "was missed: a replacement",
      ["o", "4"],
      foundAt("5", "7"),
      ["missed: deleted o@4", "missed: added u@5"],
    ],
    ["was not missed if it is newer", undefined, foundAt("8", "7"), ["added u@8"]],
    ["was not missed in a first list", undefined, foundAt("5", "7", { first: true }), ["listed u@5"]],
    ["was not missed if the server was restored", ["u", "6"], restored("5", "7"), ["modified u@5"]],
  ],
  "another uid under the same name": [
    ["is a deletion and an addition", ["old", "5"], watched("new", "9"), ["deleted old@5", "added new@9"]],
    ["is ignored with an older version", ["new", "9"], watched("old", "5"), []],
    ["is ignored with an older deletion", ["new", "9"], deleted("old", "6"), []],
    ["may be deleted by now", ["old", "5"], deleted("new", "9"), ["deleted old@5", "deleted new@9"]],
  ],
};
describe.each(Object.entries(cases))("%s", (_of, rows) => {
  test.each(rows)("%s", (_what, before, observed, lines) => {
    expect(emitted(before, observed)).toEqual(lines);
  });
});

test("only an addition that a watch shows as created is one", () => {
  const isCreated = (before: SeenObject | undefined, observed: ObservedObject) =>
    changeEvents(before, observed).map((event) => event.created ?? false);
  const created = { ...watched("u", "5"), created: true } as const;
  expect(isCreated(undefined, created)).toEqual([true]);
  expect(isCreated(seen("old", "4"), created)).toEqual([false, true]);
  expect(isCreated(undefined, watched("u", "5"))).toEqual([false]);
  expect(isCreated(undefined, listed("u", "5"))).toEqual([false]);
  expect(isCreated(seen("u", "4"), created)).toEqual([false]);
});

test("the event of another uid has the old object as previous if it is an addition", () => {
  const previous = (observed: ObservedObject) =>
    changeEvents(seen("old", "5"), observed).map((event) => event.previous?.uid);
  expect(previous(watched("new", "9"))).toEqual(["old", "old"]);
  expect(previous(deleted("new", "9"))).toEqual(["old", undefined]);
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
