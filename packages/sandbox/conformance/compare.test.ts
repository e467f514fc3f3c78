// That the suite would see a difference, and that masks hide nothing else.
import { expect, it } from "vitest";
import type { Json } from "../src/json.ts";
import { compareRuns } from "./compare.ts";
import type { Run } from "./run-case.ts";
import { sequenceOf } from "./sequences/generate.ts";
import { shrunk } from "./sequences/shrink.ts";

const answering = (...bodies: readonly Json[]): Run => ({
  asked: bodies.map(() => ({ method: "GET", path: "/", headers: {}, body: '{"generateName":"g-"}' })),
  answers: bodies.map((body) => ({ code: 200, headers: {}, body })),
});
const paths = (real: readonly Json[], sandbox: readonly Json[]): string[] =>
  compareRuns(answering(...real), answering(...sandbox)).map(({ path }) => path);
const uid = (digit: string): string => `${digit.repeat(8)}-0000-0000-0000-000000000000`;
const at = (resourceVersion: string, more: object = {}): Json => ({ metadata: { resourceVersion, ...more } });

it.each<[string, readonly Json[], readonly Json[]]>([
  ["uids that servers give", [{ metadata: { uid: uid("1") } }], [{ metadata: { uid: uid("2") } }]],
  ["times of today", [{ at: new Date().toISOString() }], [{ at: new Date(Date.now() - 5000).toISOString() }]],
  ["versions in the same order", [at("5"), at("9"), at("5")], [at("100"), at("101"), at("100")]],
  ["generated suffixes", [{ metadata: { name: "g-bbbbb" } }], [{ metadata: { name: "g-zzzzz" } }]],
  ["continue tokens", [{ metadata: { continue: "abc" } }], [{ metadata: { continue: "xyz" } }]],
])("%s are equal", (_, real, sandbox) => {
  expect(paths(real, sandbox)).toEqual([]);
});

it.each<[string, readonly Json[], readonly Json[], string]>([
  ["a text", [{ a: ["x", "y"] }], [{ a: ["x", "z"] }], "body.a[1]"],
  ["what one side lacks", [{ a: null }], [{}], "body.a"],
  ["whether a version is new", [at("5"), at("6")], [at("5"), at("5")], "body.metadata.resourceVersion"],
  [
    "whose uid it is",
    [{ metadata: { uid: uid("1") } }, { metadata: { uid: uid("2") } }],
    [{ metadata: { uid: uid("1") } }, { metadata: { uid: uid("1") } }],
    "body.metadata.uid",
  ],
  ["a time that was given", [{ at: "2020-01-01T00:00:00Z" }], [{ at: "2020-01-02T00:00:00Z" }], "body.at"],
  [
    "whether there is more",
    [{ metadata: { continue: "abc" } }],
    [{ metadata: { continue: "" } }],
    "body.metadata.continue",
  ],
])("%s is a difference", (_, real, sandbox, path) => {
  expect(paths(real, sandbox)).toContain(path);
});

it("a seed makes the same sequence again, and another one another", () => {
  expect(sequenceOf(7)).toEqual(sequenceOf(7));
  expect(sequenceOf(7).steps).not.toEqual(sequenceOf(8).steps);
});

it("what fails is made as small as it can be", async () => {
  const steps = Array.from({ length: 20 }, (_, i) => ({ method: "GET", path: String(i) }));
  const has = (path: string, all: readonly { path: string }[]): boolean =>
    all.some((one) => one.path === path);
  const least = await shrunk({ name: "both", steps }, (one) =>
    Promise.resolve(has("3", one.steps) && has("17", one.steps)),
  );
  expect(least.steps.map(({ path }) => path)).toEqual(["3", "17"]);
});
