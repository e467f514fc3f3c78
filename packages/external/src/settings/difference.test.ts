import { expect, test } from "vitest";
import { digestOf, firstDifference, shownValue } from "./difference.ts";

test.each([
  ["a", "a"],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: 1 }, { a: 1, b: undefined }],
  [[{ a: 1, b: 2 }], [{ a: 1 }]],
  [[], []],
  [false, false],
])("%j has everything of %j", (found, wanted) => {
  expect(firstDifference(found, wanted)).toBeUndefined();
});

test.each([
  ["a", "b", ""],
  [undefined, false, ""],
  [{ a: 1 }, { a: 1, b: 2 }, "b"],
  [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, "a.b.1"],
  [[1, 2], [1], ""],
  [[1], [1, 2], ""],
  [{ 0: 1 }, [1], ""],
  [[1], { 0: 1 }, ""],
  ["1", 1, ""],
  [{}, { constructor: "a" }, "constructor"],
])("%j lacks something of %j at %j", (found, wanted, path) => {
  expect(firstDifference(found, wanted)?.path).toBe(path);
});

test("a digest is of the value, and not of the order of its fields", () => {
  expect(digestOf({ a: 1, b: { c: 2, d: 3 } })).toBe(digestOf({ b: { d: 3, c: 2 }, a: 1 }));
  expect(digestOf({ a: [1, 2] })).not.toBe(digestOf({ a: [2, 1] }));
  expect(digestOf({ a: 1, b: undefined })).toBe(digestOf({ a: 1 }));
});

test("a value is shown on one short line", () => {
  expect(shownValue({ b: 1, a: "x" })).toBe('{"a":"x","b":1}');
  expect(shownValue("y".repeat(100))).toHaveLength(61);
  expect(shownValue(undefined)).toBe("not set");
});
