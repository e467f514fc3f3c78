import { describe, expect, it } from "vitest";
import { describeBucketChanges } from "./bucket-story.ts";
import { type BucketView, viewOf } from "./bucket-view.ts";

const born: BucketView = {
  uid: "1",
  generation: 1,
  deleting: false,
  finalizers: [],
  onDelete: "Delete",
  observedGeneration: undefined,
  ready: undefined,
  bucket: undefined,
  announced: false,
};
const held: BucketView = { ...born, finalizers: ["drover.dev/buckets"] };
const announced: BucketView = {
  ...held,
  observedGeneration: 1,
  announced: true,
  bucket: "hello",
  ready: { status: "Unknown", reason: "Creating", message: "Bucket hello is about to be made." },
};
const well: BucketView = {
  ...announced,
  announced: false,
  ready: { status: "True", reason: "Reconciled", message: "As the spec asks." },
};
const leaving: BucketView = { ...well, deleting: true, generation: 2 };
const texts = (before: BucketView | undefined, after: BucketView | undefined) =>
  describeBucketChanges(before, after).map(({ text }) => text);

it("reports each step of an object once, in order", () => {
  const life = [undefined, born, held, announced, well, leaving, undefined];
  const lines = life.flatMap((after, index) => (index === 0 ? [] : texts(life[index - 1], after)));
  expect(lines).toEqual([
    "the object is there (generation 1)",
    "finalizer drover.dev/buckets persisted: the object stays until its bucket is deleted or released",
    "bucket hello does not exist yet; the status records that it is about to be created",
    "Ready: As the spec asks.",
    "deletion was requested: its bucket is deleted first (onDelete: Delete)",
    "its finalizer was removed, and the object is gone",
  ]);
});

it("reports a finalizer that is removed while others remain", () => {
  const shared = { ...leaving, finalizers: ["drover.dev/buckets", "example.com/other"] };
  const rest = { ...shared, finalizers: ["example.com/other"] };
  expect(texts(shared, rest)).toEqual(["finalizer drover.dev/buckets removed: nothing is left to do for it"]);
});

it("reports nothing for equal states", () => {
  expect(texts(well, { ...well })).toEqual([]);
});

it("reports the state of an object that already exists", () => {
  expect(texts(undefined, well)).toEqual([
    "the object is there (generation 1)",
    "finalizer drover.dev/buckets persisted: the object stays until its bucket is deleted or released",
    "Ready: As the spec asks.",
  ]);
});

it("reports another object of the same name as a new one", () => {
  expect(texts(well, { ...born, uid: "2" })).toEqual(["the object is gone, and another one has its name"]);
});

it("reports Ready for a changed spec only when the status is for that spec", () => {
  const edited = { ...well, generation: 2 };
  expect(texts(well, edited)).toEqual(["the spec was changed (generation 2)"]);
  expect(texts(edited, { ...edited, observedGeneration: 2 })).toEqual(["Ready: As the spec asks."]);
});

it("reports why an object is not Ready, in the tone bad", () => {
  const ready = { status: "False", reason: "NotOwned", message: "It belongs to another." };
  expect(describeBucketChanges(well, { ...well, ready })).toEqual([
    { text: "not Ready (NotOwned): It belongs to another.", tone: "bad" },
  ]);
});

describe("a look at an object", () => {
  const metadata = { name: "hello", namespace: "default", uid: "1", resourceVersion: "7", generation: 3 };
  const object = (parts: object) => ({
    apiVersion: "s3.drover.dev/v1alpha1",
    kind: "Bucket",
    metadata,
    ...parts,
  });

  it("treats invalid fields as absent", () => {
    const nothing = { ...born, generation: 3, onDelete: undefined };
    expect(viewOf(object({}))).toEqual(nothing);
    expect(viewOf(object({ spec: null, status: { conditions: "no" } }))).toEqual(nothing);
  });

  it("has the bucket that is about to be created, and the one that exists", () => {
    expect(viewOf(object({ status: { creating: { bucketName: "a" } } }))).toMatchObject({
      bucket: "a",
      announced: true,
    });
    expect(viewOf(object({ status: { bucketName: "b" } }))).toMatchObject({ bucket: "b", announced: false });
  });
});
