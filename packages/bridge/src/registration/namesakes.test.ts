import { type ObjectKey, objectKey } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { declaredFunctions } from "@drover/runtime";
import { expect, it, test } from "vitest";
import { refuseNamesakes } from "./namesakes.ts";
import { registeredFunction } from "./registered-functions.ts";

const sites = { group: "example.com", version: "v1", kind: "Site", plural: "sites", scope: "Namespaced" };
const cups = { ...sites, kind: "Cup", plural: "cups" };
type Of = { name?: string; day?: number; kind?: object; spec?: object };

const fn = (
  namespace: string,
  { name = "web", day = 1, kind = {}, spec = {} }: Of = {},
): [ObjectKey, KubeObject] => {
  const metadata = {
    name,
    namespace,
    uid: `uid-${namespace}`,
    resourceVersion: "1",
    creationTimestamp: `2026-01-0${day}T00:00:00Z`,
  };
  const type = { apiVersion: "drover.dev/v1alpha1", kind: "ReconcileFunction" };
  return [objectKey(metadata), { ...type, metadata, spec: { for: { ...sites, ...kind }, ...spec } }];
};
type Entry = [ObjectKey, KubeObject];
const judged = (...functions: readonly Entry[]) =>
  refuseNamesakes(declaredFunctions(new Map(functions)).map(registeredFunction));
/** Those that are registered, the oldest first. */
const used = (...functions: readonly Entry[]) =>
  judged(...functions).flatMap(({ key, registration }) => (registration === undefined ? [] : [key]));

it("of functions with one name for the same objects, the oldest is used", () => {
  const [young, old, youngest] = [fn("a", { day: 3 }), fn("b", { day: 1 }), fn("c", { day: 5 })];
  expect(used(young, old, youngest)).toEqual(["b/web"]);
  const problems = judged(young, old, youngest).map(({ problem }) => problem);
  expect(problems[0]).toBeUndefined();
  for (const problem of problems.slice(1)) {
    expect(problem).toMatch(/older ReconcileFunction with the name web.*sites\.example\.com.*another name/);
    // The author of one may not read the other's namespace.
    expect(problem).not.toMatch(/\bb\b/);
  }
  expect(used(young, youngest)).toEqual(["a/web"]);
});

test.each([
  ["other names", fn("b", { name: "site" })],
  ["other kinds", fn("b", { kind: cups })],
  ["kinds of other groups", fn("b", { kind: { group: "example.org" } })],
])("functions of %s are all used", (_what, other) => {
  expect(used(fn("a"), other)).toHaveLength(2);
});

test("another version of the kind has the same objects", () => {
  expect(used(fn("a"), fn("b", { kind: { version: "v2" } }))).toEqual(["a/web"]);
});

test("a kind that one function owns and another is for does not make them namesakes", () => {
  expect(used(fn("a", { kind: cups, spec: { owns: [sites] } }), fn("b"))).toHaveLength(2);
});

test("in namespaces of their own, functions of one name are all used", () => {
  const only = (...namespaces: readonly string[]): Of => ({ kind: { namespaces } });
  expect(used(fn("a", only("a")), fn("b", only("b")), fn("c", only("c", "d")))).toHaveLength(3);
  expect(used(fn("a", only("a", "d")), fn("c", only("c", "d")))).toEqual(["a/web"]);
  expect(used(fn("a", only("a")), fn("b"))).toEqual(["a/web"]);
  expect(used(fn("a"), fn("b", only("b")))).toEqual(["a/web"]);
});

test("functions of one name may share a kind by different label selectors", () => {
  const labelled = (shard: string): Of => ({ kind: { labelSelector: { matchLabels: { shard } } } });
  expect(used(fn("a", labelled("1")), fn("b", labelled("2")))).toHaveLength(2);
  expect(used(fn("a", labelled("1")), fn("b", labelled("1")))).toEqual(["a/web"]);
  expect(used(fn("a", labelled("1")), fn("b"))).toEqual(["a/web"]);
});

test("a function that is not registered refuses no other", () => {
  const bad = fn("a", { spec: { watches: [{ ...cups, names: {} }] } });
  expect(used(bad, fn("b", { day: 2 }))).toEqual(["b/web"]);
});
