import { expect, it } from "vitest";
import { percentile, spread } from "./spread.ts";

it("has the figure in the middle, and where there are two their mean, for the lower one would flatter", () => {
  expect(spread([30, 10, 20])).toEqual({ min: 10, median: 20, max: 30 });
  expect(spread([30, 10, 20, 100])).toEqual({ min: 10, median: 25, max: 100 });
});

it("takes the smallest figure that so many percent do not exceed", () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  expect([1, 50, 99, 100].map((percent) => percentile(hundred, percent))).toEqual([1, 50, 99, 100]);
  expect(percentile([7], 99)).toBe(7);
});

it("refuses to make a figure up", () => {
  expect(() => percentile([], 50)).toThrow(RangeError);
});
