import { expect, test } from "vitest";
import { mergedTags, maxSpecTags, sameTags, splitTags, tagLimits, tagProblem, withoutMarks } from "./tags.ts";

const own = new Map([["drover.dev/owner-uid", "u"]]);
const merged = (current: Record<string, string>, spec: Record<string, string>) =>
  Object.fromEntries(mergedTags(new Map(Object.entries(current)), spec, own));

test("tags of others are kept, those of the spec set, Drover's own added", () => {
  expect(merged({ other: "1", team: "wrong" }, { team: "a" })).toMatchObject({
    other: "1",
    team: "a",
    "drover.dev/owner-uid": "u",
  });
});

test("a key that an earlier spec had is removed; one that others set is not", () => {
  const before = merged({ other: "1" }, { team: "a", tier: "2" });
  expect(merged(before, { team: "a" })).not.toHaveProperty("tier");
  expect(merged(before, {})).toEqual({ other: "1", "drover.dev/owner-uid": "u" });
});

test("merging twice changes nothing", () => {
  const once = mergedTags(new Map([["other", "1"]]), { b: "2", a: "1" }, own);
  expect(sameTags(mergedTags(once, { a: "1", b: "2" }, own), once)).toBe(true);
});

test("as many tags as a spec may have, with the longest keys, fit into S3's limits", () => {
  const spec = Object.fromEntries(
    Array.from({ length: maxSpecTags }, (_, i) => [String(i).padStart(tagLimits.keyLength, "k"), "v"]),
  );
  const all = mergedTags(new Map(), spec, new Map([...own, ["drover.dev/owner", "a/b"]]));
  expect(all.size).toBe(tagLimits.tags);
  for (const [key, value] of all) {
    expect(key.length).toBeLessThanOrEqual(tagLimits.keyLength);
    expect(value.length).toBeLessThanOrEqual(tagLimits.valueLength);
    if (key.startsWith("drover.dev/")) expect(tagProblem("x", value)).toBeUndefined();
  }
  expect([...mergedTags(all, {}, own).keys()]).toEqual(["drover.dev/owner-uid"]);
});

test("letting go leaves everything but Drover's marks", () => {
  const tags = mergedTags(new Map([["other", "1"]]), { team: "a" }, own);
  expect(Object.fromEntries(withoutMarks(tags))).toEqual({ other: "1", team: "a" });
});

test("keys named like parts of an object are keys", () => {
  const spec = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, string>;
  const tags = mergedTags(new Map(), spec, own);
  expect(tags.get("__proto__")).toBe("a");
  expect(tags.get("constructor")).toBe("b");
});

test.each([
  ["", "v"],
  ["k".repeat(129), "v"],
  ["k", "v".repeat(257)],
  ["k{}", "v"],
  ["k", "v,w"],
  ["AWS:k", "v"],
  ["drover.dev/owner-uid", "v"],
])("tag %j: %j is refused", (key, value) => {
  expect(tagProblem(key, value)).toBeDefined();
});

test("keys and values as long as S3 takes them are taken, those of AWS in any case are not", () => {
  expect(tagProblem("k".repeat(128), "v".repeat(256))).toBeUndefined();
  expect(tagProblem("k", "")).toBeUndefined();
  const { tags, ofAws } = splitTags([
    ["Aws:x", "1"],
    ["aws:y", "2"],
    ["awsome", "3"],
  ]);
  expect([[...tags.keys()], [...ofAws.keys()]]).toEqual([["awsome"], ["Aws:x", "aws:y"]]);
});

test("letters of any script, blanks and S3's marks are taken", () => {
  expect(tagProblem("größe 1", "a_b.c:d/e=f+g-h@i")).toBeUndefined();
});
