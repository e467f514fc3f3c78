import { describe, expect, it } from "vitest";
import {
  controllerOf,
  controllerReference,
  isControlledBy,
  ownedBy,
  OwnershipError,
} from "./controller-of.ts";
import { builtin } from "./resource-ref.ts";

const reference = controllerReference({ ref: builtin.configMap, metadata: { name: "parent", uid: "u-1" } });
const { controller: _controls, ...plain } = reference;
const metadata = { name: "a", namespace: "web", uid: "u-2", resourceVersion: "1" };

it("the controller of an object is the owner with controller: true; other owners do not count", () => {
  const others = [
    { ...plain, uid: "u-3" },
    { ...plain, uid: "u-4", controller: false },
  ];
  expect(controllerOf({ ...metadata, ownerReferences: others })).toBeUndefined();
  expect(isControlledBy({ ...metadata, ownerReferences: others }, { uid: "u-3" })).toBe(false);
  const controlled = { ...metadata, ownerReferences: [...others, reference] };
  expect(controllerOf(controlled)).toEqual(reference);
  expect(isControlledBy(controlled, { uid: "u-1" })).toBe(true);
  expect(isControlledBy(controlled, { uid: "u-5" })).toBe(false);
});

describe("an owned object", () => {
  const owner = { reference, namespace: "web" };
  const object = { metadata: { name: "a", namespace: "web" } };

  it("has one reference to its owner, and keeps those to others, also of the same name", () => {
    const namesake = { ...plain, uid: "u-0" };
    const before = { metadata: { ...object.metadata, ownerReferences: [plain, namesake] } };
    expect(ownedBy(owner, before).metadata.ownerReferences).toEqual([namesake, reference]);
  });

  it.each([
    ["no run", undefined, object, /only the client of a run/],
    ["another namespace", owner, { metadata: { name: "a", namespace: "other" } }, /it is in other/],
    [
      "no namespace, and its owner has one",
      owner,
      { metadata: { name: "a" } },
      /is in the namespace web, and it is cluster-scoped/,
    ],
  ])("is refused: %s", (_, by, made, message) => {
    expect(() => ownedBy(by, made)).toThrow(OwnershipError);
    expect(() => ownedBy(by, made)).toThrow(message);
  });

  it("may have any namespace, or none, if its owner is cluster-scoped", () => {
    const everywhere = { reference, namespace: undefined };
    for (const made of [object, { metadata: { name: "a" } }])
      expect(ownedBy(everywhere, made).metadata.ownerReferences).toEqual([reference]);
  });
});
