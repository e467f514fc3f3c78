import { expect, test } from "vitest";
import { mergedTags, sameTags, withoutMarks } from "./tags.ts";

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

test("as many tags as AWS takes, with the longest keys, fit into its limits, and are removed again", () => {
  const spec = Object.fromEntries(Array.from({ length: 47 }, (_, i) => [String(i).padStart(128, "k"), "v"]));
  const all = mergedTags(new Map(), spec, new Map([...own, ["drover.dev/owner", "a/b"]]));
  expect(all.size).toBe(50);
  for (const [key, value] of all) {
    expect(key.length).toBeLessThanOrEqual(128);
    expect(value).toMatch(/^[\w.:/=+@-]{0,256}$/);
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
