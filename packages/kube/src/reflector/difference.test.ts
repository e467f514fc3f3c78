import { describe, expect, test } from "vitest";
import { kubeObjectSchema } from "../kube-object.ts";
import { bucketObject } from "../testing/objects.ts";
import { difference, seenFrom, type Sighting } from "./difference.ts";

const object = (uid: string, resourceVersion: string) =>
  kubeObjectSchema.parse(bucketObject("a", { uid, resourceVersion, generation: 1 }));
const present = (uid: string, version: string, more: object = {}): Sighting => ({
  is: "present",
  object: object(uid, version),
  ...more,
});
const deleted = (uid: string, version: string): Sighting => ({ is: "deleted", object: object(uid, version) });

const told = (seen: readonly [uid: string, version: string] | undefined, sighting: Sighting) =>
  difference(seen && seenFrom(object(...seen)), sighting, true).map(
    (event) => `${event.type} ${event.object.uid}@${event.object.resourceVersion}`,
  );

describe("a key that was not seen", () => {
  test("is listed by the first listing, and added later", () => {
    expect(told(undefined, present("u", "5", { first: true }))).toEqual(["listed u@5"]);
    expect(told(undefined, present("u", "5"))).toEqual(["added u@5"]);
  });

  test("that is deleted is told all the same: its add may have been missed", () => {
    expect(told(undefined, deleted("u", "5"))).toEqual(["deleted u@5"]);
  });
});

describe("the same object", () => {
  test("is told once a version", () => {
    expect(told(["u", "5"], present("u", "6"))).toEqual(["modified u@6"]);
    expect(told(["u", "5"], present("u", "5"))).toEqual([]);
  });

  test("never goes back, unless the server is believed", () => {
    expect(told(["u", "5"], present("u", "4"))).toEqual([]);
    expect(told(["u", "5"], present("u", "4", { believed: true }))).toEqual(["modified u@4"]);
  });

  test("with a version that is no number differs when the text does", () => {
    expect(told(["u", "b"], present("u", "a"))).toEqual(["modified u@a"]);
  });

  test("is deleted with its last version or a newer one, not by an older echo", () => {
    expect(told(["u", "5"], deleted("u", "5"))).toEqual(["deleted u@5"]);
    expect(told(["u", "5"], deleted("u", "6"))).toEqual(["deleted u@6"]);
    expect(told(["u", "5"], deleted("u", "4"))).toEqual([]);
  });
});

describe("another uid under the same name", () => {
  test("is two facts: the old object's end, and the new one's begin, which names the old", () => {
    expect(told(["old", "5"], present("new", "9"))).toEqual(["deleted old@5", "added new@9"]);
    const [, added] = difference(seenFrom(object("old", "5")), present("new", "9"), true);
    expect(added?.previous?.object.uid).toBe("old");
  });

  test("is not taken with an older version", () => {
    expect(told(["new", "9"], present("old", "5"))).toEqual([]);
    expect(told(["new", "9"], deleted("old", "6"))).toEqual([]);
  });

  test("may itself be gone by now", () => {
    expect(told(["old", "5"], deleted("new", "9"))).toEqual(["deleted old@5", "deleted new@9"]);
  });
});

test("what is kept of an object leaves out what is large and says nothing", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", a: "b" };
  const full = kubeObjectSchema.parse(bucketObject("a", { annotations, managedFields: [{}] }));
  expect(seenFrom(full).object).toEqual({
    ...{ name: "a", namespace: "default", uid: "uid-a", resourceVersion: "1" },
    annotations: { a: "b" },
  });
});
