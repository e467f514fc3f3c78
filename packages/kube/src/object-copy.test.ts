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
  const around = (copyOf(sized(0)) ?? "").length;
  expect(copyOf(sized(16_384 - around))).toHaveLength(16_384);
  expect(copyOf(sized(16_385 - around))).toBeUndefined();
});
