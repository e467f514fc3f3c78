import { RetryError, type RelatedKind } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { describe, expect, it } from "vitest";
import { readHookResult, readRelatedKinds } from "./hook-response.ts";
import { type MetacontrollerHooks, metacontrollerHooks } from "./hooks.ts";

const hooks = metacontrollerHooks({
  controller: "Composite",
  sync: "/sync",
  updates: [
    { group: "", kind: "ConfigMap", method: "InPlace" },
    { group: "", kind: "Pod", method: "RollingRecreate" },
    { group: "apps", kind: "Deployment", method: "Recreate" },
  ],
});
const decorator: MetacontrollerHooks = { ...hooks, controller: "Decorator" };
const bytes = (value: unknown): Uint8Array =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const result = (value: unknown, of: MetacontrollerHooks = hooks, finalizing = false) =>
  readHookResult(of, bytes(value), finalizing);
const problemOf = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (error instanceof RetryError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return "none";
};
const child = (apiVersion: string, kind: string, more: object = {}, metadata: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: "a", ...metadata },
  ...more,
});

describe("a sync hook's answer", () => {
  it("declares children, each updated by the method of its kind", () => {
    const children = [
      child("v1", "ConfigMap", { data: { a: "1" } }),
      child("v1", "Pod"),
      child("apps/v1", "Deployment"),
      child("v1", "Service"),
    ];
    expect(result({ children }).children.map(({ object, update }) => [object.kind, update])).toEqual([
      ["ConfigMap", "Apply"],
      ["Pod", "Rolling"],
      ["Deployment", "Recreate"],
      // As in Metacontroller, where nothing is declared.
      ["Service", "OnDelete"],
    ]);
  });

  it("may return children as they were sent, or as Go writes them", () => {
    const sent = child(
      "v1",
      "ConfigMap",
      { data: { a: "1" }, status: { phase: "x" } },
      {
        namespace: "web",
        uid: "1",
        resourceVersion: "2",
        generation: 3,
        creationTimestamp: null,
        ownerReferences: [{}],
        finalizers: ["example.com/hold"],
        labels: { app: "a", "drover.dev/owner-uid": "1" },
        annotations: {
          note: "kept",
          "drover.dev/applied": "1",
          "metacontroller.k8s.io/last-applied-configuration": "{}",
          "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
      },
    );
    expect(result({ children: [sent] }).children[0]?.object).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      data: { a: "1" },
      metadata: {
        name: "a",
        namespace: "web",
        labels: { app: "a" },
        annotations: { note: "kept" },
        finalizers: ["example.com/hold"],
      },
    });
  });

  it("replaces the status, and conditions are conditions", () => {
    const conditions = [{ type: "Done", status: "True", lastTransitionTime: "2020-01-01T00:00:00Z" }];
    const status = { replicas: 3, observedGeneration: 9, conditions };
    expect(result({ status, children: [] })).toMatchObject({
      status: { replicas: 3 },
      conditions: [{ type: "Done", status: "True", reason: "NotGiven", message: "" }],
    });
    expect(result({ status, children: [] }).status).toEqual({ replicas: 3 });
    expect(result({ status: null, children: [] }).status).toEqual({});
  });

  it.each([
    [0, undefined],
    [0.2, "1000ms"],
    [2.5, "2500ms"],
  ])("resyncAfterSeconds of %d is a wait of %s", (resyncAfterSeconds, wait) => {
    expect(result({ children: [], resyncAfterSeconds }).requeueAfter).toBe(wait);
  });

  it("with no children at all is refused: Metacontroller would delete all", () => {
    expect(problemOf(() => result({ status: {} }))).toMatch(
      /^BadAnswer: .*it has no children\. Give an empty list/,
    );
    expect(result({ children: null }).children).toEqual([]);
    expect(result({ finalized: true }, hooks, true)).toMatchObject({ children: [], finalized: true });
    expect(result({ attachments: null }, decorator).children).toEqual([]);
  });

  it("may have unknown fields in version 1, and not in version 2", () => {
    const answer = { children: [], childs: [] };
    expect(result(answer).children).toEqual([]);
    expect(problemOf(() => result(answer, { ...hooks, version: "v2" }))).toMatch(/BadAnswer: .*childs/);
  });

  it.each<[string, unknown]>([
    ["text", "hello"],
    ["a list", []],
    ["a child without a name", { children: [{ apiVersion: "v1", kind: "ConfigMap", metadata: {} }] }],
    ["a child that is null", { children: [null] }],
    ["a label that is a number", { children: [child("v1", "Pod", {}, { labels: { a: 1 } })] }],
    ["a status that is text", { children: [], status: "ok" }],
    [
      "a condition of another status",
      { children: [], status: { conditions: [{ type: "A", status: "Maybe" }] } },
    ],
    ["a negative wait", { children: [], resyncAfterSeconds: -1 }],
    ["finalized as text", { children: [], finalized: "true" }],
    ["a field with the name __proto__", '{"children":[],"__proto__":{}}'],
  ])("that is %s is refused", (_, answer) => {
    expect(problemOf(() => result(answer))).toMatch(/^BadAnswer: The function's answer cannot be used/);
  });
});

describe("the answer of a DecoratorController's hook", () => {
  const read = (value: unknown) => result(value, decorator);

  it("has labels, annotations and the status as it is", () => {
    const status = { conditions: [{ type: "Any", status: "Maybe" }], observedGeneration: 4 };
    expect(
      read({ labels: { a: "1", b: null }, annotations: { c: "2" }, status, attachments: [] }),
    ).toMatchObject({
      labels: { a: "1", b: null },
      annotations: { c: "2" },
      status,
      conditions: [],
    });
    expect(read({ status: null }).status).toBeUndefined();
  });

  it("may not set Drover's own labels and annotations", () => {
    expect(problemOf(() => read({ labels: { "drover.dev/dev": "1" } }))).toMatch(
      /BadAnswer: .*drover\.dev\//,
    );
    expect(problemOf(() => read({ annotations: { "drover.dev/parent": null } }))).toMatch(/BadAnswer/);
  });
});

describe("a customize hook's answer", () => {
  const declared: readonly RelatedKind[] = [
    { kind: kindOf(builtin.secret), names: { all: true }, related: true, namespaces: ["web", "shop"] },
    { kind: kindOf(builtin.namespace), names: { all: true }, related: true },
  ];
  const rule = (more: object, resource = "secrets") => ({
    relatedResources: [{ apiVersion: "v1", resource, ...more }],
  });
  const object = { metadata: { name: "a", uid: "1", resourceVersion: "1" }, spec: {}, status: {} };
  const read = (value: unknown, namespace: string | undefined = "web") =>
    readRelatedKinds(declared, namespace === "" ? {} : { namespace }, bytes(value));

  it("names objects, or selects them", () => {
    const [named] = read(rule({ names: ["a", "b"] }));
    expect(named).toMatchObject({ kind: { plural: "secrets" }, namespaces: ["web", "shop"], related: true });
    expect(typeof named?.names === "function" && named.names(object)).toEqual(["a", "b"]);
    const labelSelector = { matchLabels: { app: "a" }, matchExpressions: [{ key: "b", operator: "Exists" }] };
    expect(read(rule({ labelSelector, names: null }))).toMatchObject([
      { names: { all: true }, labelSelector },
    ]);
    expect(read(rule({ labelSelector: {} }))).toMatchObject([{ names: { all: true } }]);
    expect(read({})).toEqual([]);
    expect(read({ relatedResources: null })).toEqual([]);
  });

  it("limits what is declared, and does not widen it", () => {
    const shared = { ...declared[0], labelSelector: { matchLabels: { share: "yes" } } } as RelatedKind;
    const selected = (labelSelector: object) =>
      readRelatedKinds([shared], { namespace: "web" }, bytes(rule({ labelSelector })))[0]?.labelSelector;
    const isShared = { key: "share", operator: "In", values: ["yes"] };
    expect(selected({})).toEqual({ matchLabels: {}, matchExpressions: [isShared] });
    expect(selected({ matchLabels: { share: "no" } })).toEqual({
      matchLabels: { share: "no" },
      matchExpressions: [isShared],
    });
  });

  it("has 100 rules at most", () => {
    const rules = (count: number) => ({
      relatedResources: Array.from({ length: count }, () => rule({ names: ["a"] }).relatedResources[0]),
    });
    expect(read(rules(100))).toHaveLength(100);
    expect(problemOf(() => read(rules(101)))).toMatch(/BadAnswer/);
  });

  it.each([
    { key: "a", operator: "In" },
    { key: "a", operator: "NotIn", values: [] },
    { key: "a", operator: "In", values: null },
    { key: "a", operator: "Exists", values: ["b"] },
  ])("is refused with the requirement %j, as Kubernetes does", (requirement) =>
    expect(problemOf(() => read(rule({ labelSelector: { matchExpressions: [requirement] } })))).toMatch(
      /BadAnswer/,
    ),
  );

  it("of a cluster-scoped object may name a namespace that is declared", () => {
    const [named] = read(rule({ namespace: "shop", names: ["a"] }), "");
    expect(typeof named?.names === "function" && named.names(object)).toEqual(["shop/a"]);
    expect(read(rule({ namespace: "shop" }), "")).toMatchObject([
      { namespaces: ["shop"], names: { all: true } },
    ]);
  });

  it.each<[string, unknown, string]>([
    ["an undeclared kind", rule({}, "configmaps"), "web"],
    ["another version", { relatedResources: [{ apiVersion: "v2", resource: "secrets" }] }, "web"],
    ["another namespace", rule({ namespace: "shop" }), "web"],
    ["an undeclared namespace", rule({ namespace: "bank" }), ""],
    ["namespaces by selector", rule({ namespaceSelector: {} }), "web"],
  ])("with %s is refused", (_, answer, namespace) => {
    expect(problemOf(() => read(answer, namespace))).toMatch(/^BadAnswer: /);
  });
});
