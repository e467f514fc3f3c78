import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  countOf,
  countOfBoth,
  firstMissing,
  hasIndex,
  indexesFrom,
  readIndexes,
  union,
  writeIndexes,
} from "./indexes.ts";

const some = fc.array(fc.nat(30), { maxLength: 25 });

describe("sets of indexes do the same as sets of numbers", () => {
  it("in union, counts and membership", () => {
    fc.assert(
      fc.property(some, some, (a, b) => {
        const [left, right] = [indexesFrom(a), indexesFrom(b)];
        const both = new Set([...a, ...b]);
        expect(countOf(union(left, right))).toBe(both.size);
        expect(countOfBoth(left, right)).toBe(new Set(a).intersection(new Set(b)).size);
        for (let i = 0; i <= 31; i++) expect(hasIndex(union(left, right), i)).toBe(both.has(i));
      }),
    );
  });

  it("in the first that are missing", () => {
    fc.assert(
      fc.property(some, fc.nat(10), fc.nat(30), (a, count, completions) => {
        const missing = Array.from({ length: completions }, (_, i) => i).filter((i) => !a.includes(i));
        expect(firstMissing(indexesFrom(a), count, completions)).toEqual(missing.slice(0, count));
      }),
    );
  });

  it("when they are written and read again, without those that the Job no longer has", () => {
    fc.assert(
      fc.property(some, fc.nat(31), (a, completions) => {
        const kept = indexesFrom(a.filter((i) => i < completions));
        expect(readIndexes(writeIndexes(indexesFrom(a)), completions)).toEqual(kept);
      }),
    );
  });
});

it.each([
  [[], ""],
  [[3], "3"],
  [[1, 2], "1,2"],
  [[1, 2, 3, 5, 6, 9], "1-3,5,6,9"],
])("%j is written as kube-controller-manager does: %j", (indexes, text) => {
  expect(writeIndexes(indexesFrom(indexes))).toBe(text);
});

it.each(["-1", "a", "3-", "1-x", "5-3", " 1"])("%j is no index", (text) => {
  expect(readIndexes(text, 10)).toEqual([]);
});
