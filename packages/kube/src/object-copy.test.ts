import { expect, it } from "vitest";
import { kubeObjectSchema } from "./kube-object.ts";
import { copyOf, objectIn } from "./object-copy.ts";
import { bucket, bucketObject } from "./testing/objects.ts";

const sized = (length: number) =>
  kubeObjectSchema.parse({
    ...bucketObject("a", { managedFields: [{}] }),
    spec: { text: "x".repeat(length) },
  });

it("a copy stands in for its object, without managedFields, and is not made of a large one", () => {
  const copy = copyOf(sized(10));
  expect(objectIn(bucket, copy ?? "")).toEqual({ ...bucketObject("a"), spec: { text: "x".repeat(10) } });
  expect(copyOf(sized(16_000))).toBeDefined();
  expect(copyOf(sized(16_384))).toBeUndefined();
});
