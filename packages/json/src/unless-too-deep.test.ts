import { expect, it } from "vitest";
import { unlessTooDeep } from "./unless-too-deep.ts";

const nested = (depth: number): unknown => {
  let value: unknown = 0;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
};
const write = (value: unknown): string =>
  unlessTooDeep(
    () => JSON.stringify(value),
    () => "too deep",
  );

it("returns the result, or the fallback if a value is nested too deep", () => {
  expect(write(nested(100))).toHaveLength(201);
  expect(write(nested(1_000_000))).toBe("too deep");
});

it("rethrows other errors", () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  expect(() => write(cyclic)).toThrow(TypeError);
});
