import { objectKey } from "@drover/controller";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defaultRedisCaFile } from "./config.ts";
import { conditionOf, isStatusCurrent } from "./object-conditions.ts";
import { isoTime } from "./iso-time.ts";
import { queriedKey, parseObjectArguments } from "./find-object.ts";
import { describePauses } from "./describe-pauses.ts";
import { requireRedisUrl } from "./redis-option.ts";
import { shortDuration } from "./short-duration.ts";
import { pagedTable } from "./table.ts";

afterEach(() => vi.unstubAllEnvs());

it.each([
  [-5, "0ms"],
  [999, "999ms"],
  [1_000, "1s"],
  [1_999, "1s"],
  [119_999, "119s"],
  [120_000, "2m"],
  [7_199_999, "119m"],
  [7_200_000, "2h"],
  [172_799_999, "47h"],
  [172_800_000, "2d"],
])("a span of %i ms is shown as %s", (span, words) => expect(shortDuration(span)).toBe(words));

it("a number that is no time has no ISO 8601", () => {
  expect([isoTime(0), isoTime(Number.NaN), isoTime(8.7e15)]).toEqual([
    ...["1970-01-01T00:00:00.000Z", undefined, undefined],
  ]);
});

it("a column of a table is as wide as what is widest in it so far, and headings come once", () => {
  const page = pagedTable(["A", "B"]);
  expect(page([["aa", "b"]])).toEqual(["A    B", "aa   b"]);
  expect(page([["aaaa", "b"]])).toEqual(["aaaa   b"]);
  expect(page([["a", "b\nc"]])).toEqual(["a      b c"]);
});

it.each([
  ["controller", false, "drover resume web/sites --all"],
  ["controller", true, "take spec.paused from the ReconcileFunction web/sites"],
  ["namespace", true, "drover resume web/sites --in tea"],
  ["object", true, "drover resume web/sites tea/a"],
  ["annotation", true, "take the annotation drover.dev/paused from it"],
] as const)("a pause of the %s (spec.paused: %s) is ended so: %s", (scope, paused, words) => {
  const spec = { paused } as Parameters<typeof describePauses>[0]["spec"];
  const key = objectKey({ namespace: "tea", name: "a" });
  const printed = describePauses({ key: "web/sites", spec }, key, [{ scope, since: 0, by: "ann" }], 5_000);
  expect(printed).toContain(` by ann for 5s (to resume it: ${words})`);
});

describe("an object is meant", () => {
  it.each([
    ["note/a", undefined, ["note", "a"]],
    ["note/web/a", undefined, ["note", "web/a"]],
    ["web/notes", "a", ["web/notes", "a"]],
    ["note", "web/a", ["note", "web/a"]],
  ])("by %s and %s", (first, second, expected) => {
    expect(parseObjectArguments(first, second, "why")).toEqual(expected);
  });
  it.each(["note", "note/", "/a"])("by no %s alone", (first) => {
    expect(() => parseObjectArguments(first, undefined, "why")).toThrow(/^Which object\? Write: drover why /);
  });
  it.each([
    ["a", "Namespaced", "web/a"],
    ["other/a", "Namespaced", "other/a"],
    ["a", "Cluster", "a"],
  ] as const)("%s, which is %s: %s", (name, scope, key) => {
    expect(queriedKey({ name, namespace: "web" }, scope)).toBe(key);
  });
});

describe("a status", () => {
  const object = (generation: number, status?: object) => ({
    apiVersion: "v1",
    kind: "A",
    metadata: { name: "a", uid: "u", resourceVersion: "1", generation },
    ...(status && { status }),
  });
  it("is of the spec that there is only where the generation is the same", () => {
    const is = (observedGeneration: number) => isStatusCurrent(object(3, { observedGeneration }));
    expect([is(2), is(3), is(4), isStatusCurrent(object(3))]).toEqual([false, true, false, false]);
  });
  it("has the condition of that type", () => {
    const conditions = [
      { type: "RolledOut", status: "False" },
      { type: "Ready", status: "True", reason: "A" },
    ];
    expect(conditionOf(object(1, { conditions }))).toMatchObject({ status: "True", reason: "A" });
    expect(conditionOf(object(1, { conditions }), "RolledOut")).toMatchObject({
      status: "False",
      reason: "",
    });
    expect(conditionOf(object(1, { conditions: null }))).toBeUndefined();
  });
});

describe("the environment", () => {
  it("names a Redis where none is given, and an empty CA file is none", () => {
    vi.stubEnv("DROVER_REDIS_URL", "redis://environment");
    vi.stubEnv("DROVER_REDIS_CA_FILE", "");
    expect(requireRedisUrl(undefined)).toBe("redis://environment");
    expect(requireRedisUrl("redis://given")).toBe("redis://given");
    expect(defaultRedisCaFile()).toBeUndefined();
    vi.stubEnv("DROVER_REDIS_URL", undefined);
    expect(() => requireRedisUrl(undefined)).toThrow("give --redis, or set DROVER_REDIS_URL");
  });
});
