import { expect, it } from "vitest";
import { kubeObjectSchema } from "../objects/kube-object.ts";
import { cachedObjectText, parseCachedObject } from "./cached-object.ts";
import { bucketRef, bucketObject } from "../testing/objects.ts";

const sized = (length: number) =>
  kubeObjectSchema.parse({
    ...bucketObject("a", { managedFields: [{}] }),
    spec: { text: "x".repeat(length) },
  });

it("a cached object replaces a read, without managedFields; a large object is not cached", () => {
  const copy = cachedObjectText(sized(10));
  expect(parseCachedObject(bucketRef, copy ?? "")).toEqual({
    ...bucketObject("a"),
    spec: { text: "x".repeat(10) },
  });
  const around = (cachedObjectText(sized(0)) ?? "").length;
  expect(cachedObjectText(sized(16_384 - around))).toHaveLength(16_384);
  expect(cachedObjectText(sized(16_385 - around))).toBeUndefined();
});
