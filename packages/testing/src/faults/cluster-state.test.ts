import { expect, it } from "vitest";
import { differingPaths, valuesOf } from "./cluster-state.ts";

it("objects differ in an integer that a double cannot represent", () => {
  const values = (n: bigint) => {
    const metadata = { name: "a", uid: "u", resourceVersion: "1" };
    return valuesOf(
      { resource: "pods", object: { apiVersion: "v1", kind: "Pod", metadata, spec: { n } } },
      new Map(),
    );
  };
  expect(differingPaths(values(2n ** 53n), values(2n ** 53n))).toEqual([]);
  expect(differingPaths(values(2n ** 53n), values(2n ** 53n + 1n))).toEqual(["spec.n"]);
});
