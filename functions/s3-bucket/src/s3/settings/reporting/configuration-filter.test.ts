import { describe, expect, test } from "vitest";
import { filterToApi, type ObjectFilter, withCanonicalFilter } from "./configuration-filter.ts";

const a = { key: "a", value: "1" };
const b = { key: "b", value: "" };
const canonical = (filter: ObjectFilter) => withCanonicalFilter(filter === undefined ? {} : { filter });

describe("one filter, in whatever spelling,", () => {
  const spellings: readonly (readonly ObjectFilter[])[] = [
    [undefined, {}, { prefix: "" }, { and: {} }, { and: { prefix: "", tags: [] } }],
    [{ prefix: "p" }, { and: { prefix: "p" } }, { and: { prefix: "p", tags: [] } }],
    [{ tag: a }, { tag: { value: "1", key: "a" } }, { and: { tags: [a] } }, { prefix: "", tag: a }],
    [{ and: { tags: [a, b] } }, { and: { tags: [b, a] } }, { tag: b, and: { tags: [a] } }],
    [{ and: { prefix: "p", tags: [a] } }, { prefix: "p", tag: a }, { tag: a, and: { prefix: "p" } }],
    [{ and: { prefix: "p", tags: [a, b] } }, { prefix: "p", and: { tags: [b, a] } }],
  ];

  test.each(spellings.map((same) => [JSON.stringify(same[0]), same] as const))("%s, is one", (_, same) => {
    for (const filter of same) expect(canonical(filter)).toEqual(canonical(same[0]));
  });

  test("is another than any other", () => {
    expect(new Set(spellings.map(([first]) => JSON.stringify(canonical(first)))).size).toBe(spellings.length);
  });
});

test("S3 gets one condition by itself, and more than one as one", () => {
  expect(filterToApi(undefined)).toBeUndefined();
  expect(filterToApi({ prefix: "" })).toBeUndefined();
  expect(filterToApi({ and: { prefix: "p" } })).toEqual({ Prefix: "p" });
  expect(filterToApi({ and: { tags: [b] } })).toEqual({ Tag: { Key: "b", Value: "" } });
  expect(filterToApi({ prefix: "p", tag: a, and: { tags: [b] } })).toEqual({
    And: {
      Prefix: "p",
      Tags: [
        { Key: "a", Value: "1" },
        { Key: "b", Value: "" },
      ],
    },
  });
  expect(filterToApi({ tag: a, and: { tags: [b] } })).toEqual({
    And: {
      Tags: [
        { Key: "a", Value: "1" },
        { Key: "b", Value: "" },
      ],
    },
  });
});

test("a condition that only newer servers have is not taken for none", () => {
  expect(withCanonicalFilter({ filter: { $unknown: ["Size", "1"] } })).not.toEqual(canonical(undefined));
  expect(withCanonicalFilter({ filter: { and: { prefix: "p", size: 1 } } })).not.toEqual(
    canonical({ prefix: "p" }),
  );
});
