import { type ObjectKey, objectKey } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { declaredFunctions } from "@drover/runtime";
import { expect, it } from "vitest";
import { registeredFunction } from "./registered-functions.ts";

const kind = { group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" };
const object = (namespace: string, at: string, spec: unknown = { for: kind }): [ObjectKey, KubeObject] => {
  const identity = { name: "pods", namespace, uid: `uid-${namespace}` };
  const metadata = { ...identity, resourceVersion: "1", creationTimestamp: at };
  const type = { apiVersion: "drover.dev/v1alpha1", kind: "ReconcileFunction" };
  return [objectKey(metadata), { ...type, metadata, spec }];
};
const of = (...objects: readonly [ObjectKey, KubeObject][]) =>
  declaredFunctions(new Map(objects))
    .map(registeredFunction)
    .map(({ key, registration, problem }) => [key, registration?.controller ?? problem]);

it("functions with the same name in several namespaces are all used, each with its own queue", () => {
  expect(of(object("b", "2026-01-02"), object("a", "2026-01-03"), object("c", "2026-01-02"))).toEqual([
    ["b/pods", "b/pods/uid-b"],
    ["c/pods", "c/pods/uid-c"],
    ["a/pods", "a/pods/uid-a"],
  ]);
});

it("hooks with the same name each belong to their function", () => {
  const hooks = (name: string) => [
    { name, verify: { bearer: { secretRef: { name: "a", key: "b" } } }, names: { field: "name" } },
  ];
  const named = (name: string, at: string, hook: string): [ObjectKey, KubeObject] => {
    const [, { metadata, ...rest }] = object("a", at, { for: kind, hooks: hooks(hook) });
    return [objectKey({ namespace: "a", name }), { ...rest, metadata: { ...metadata, name } }];
  };
  const functions = declaredFunctions(
    new Map([
      named("young", "2026-01-03", "git"),
      named("old", "2026-01-01", "git"),
      named("third", "2026-01-02", "s3"),
    ]),
  );
  const found = functions.map(registeredFunction);
  const addresses = found.map(({ registration }) => registration?.hooks.map(({ address }) => address));
  expect(addresses).toEqual([["a/old/git"], ["a/third/s3"], ["a/young/git"]]);
  expect(found.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
});

it("a function that cannot be used reports why, and others are used", () => {
  const [[, problem] = [], [, other] = []] = of(
    object("a", "2026-01-01", { for: kind, watches: [{ ...kind, names: {} }] }),
  );
  expect(problem).toMatch(/spec\.watches\[0\]\.names: give exactly one/);
  expect(other).toBeUndefined();
  expect(of(object("a", "2026-01-01", { for: { ...kind, scope: "Global" } }))[0]?.[1]).toMatch(/for\.scope/);
  expect(of(object("a", "2026-01-01", null))[0]?.[1]).toMatch(/expected object/);
});

it("a new version that has taken over retries the failed keys, or runs a campaign", () => {
  const [key, { spec, ...rest }] = object("a", "2026-01-01");
  const wanted = (more: object, complete: number) => {
    const status = { rollout: { complete, revision: complete, template: "t" } };
    const [one] = declaredFunctions(
      new Map([[key, { ...rest, spec: { ...(spec as object), ...more }, status }]]),
    );
    const { campaign, retries } = one === undefined ? {} : (registeredFunction(one).registration ?? {});
    return [campaign?.name, retries?.name];
  };
  expect(wanted({}, 1)).toEqual([undefined, undefined]);
  expect(wanted({}, 2)).toEqual([undefined, "rollout-2"]);
  expect(wanted({ onRollout: "campaign", campaign: { name: "june" } }, 3)).toEqual([
    "june.rollout-3",
    undefined,
  ]);
});
