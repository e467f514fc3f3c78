import { expect, it } from "vitest";
import { kubeObjectSchema } from "./kube-object.ts";
import { oldestFirst } from "./oldest-first.ts";
import { bucketObject } from "../testing/objects.ts";

const born = (name: string, creationTimestamp: string) =>
  kubeObjectSchema.parse(bucketObject(name, { creationTimestamp }));

it("objects are in order of creation, and of one second by key", () => {
  const [c, b, a] = [
    born("c", "2026-01-01T00:00:00Z"),
    born("b", "2026-01-02T00:00:00Z"),
    born("a", "2026-01-02T00:00:00Z"),
  ];
  for (const objects of [
    [a, b, c],
    [c, b, a],
  ])
    expect(oldestFirst(objects).map(({ metadata }) => metadata.name)).toEqual(["c", "a", "b"]);
});
