// Server-side apply: creation, owners, conflicts, removal of fields, lists and maps of all sorts.
import type { Json, JsonObject } from "../../src/json.ts";
import { bundle, bundlesIn, configMap, configMapsIn, widget, widgetsIn } from "../fixtures.ts";
import { apply, caseOf, del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";
import { applyBodies } from "./apply-bodies.ts";
import { applyKinds } from "./apply-kinds.ts";

const map = (data: JsonObject, metadata: JsonObject = {}): JsonObject => configMap("a", { data }, metadata);
const at = `${configMapsIn}/a`;
const of = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => bundle("a", { spec }, metadata);
const bundleAt = `${bundlesIn}/a`;
const short = (value: Json): string => JSON.stringify(value).slice(0, 110);
const updated = (path: string, body: Json, manager: string): Step =>
  patch(`${path}?fieldManager=${manager}`, body);

/** Configurations of a Bundle that two managers apply one after the other, and then the first one again. */
const pairs: readonly (readonly [JsonObject, JsonObject])[] = [
  [{ size: 1 }, { size: 1 }],
  [{ size: 1 }, { size: 2 }],
  [{ size: 1, colour: "blue" }, { colour: "blue" }],
  [{ parts: [{ name: "a", value: 1 }] }, { parts: [{ name: "b", value: 1 }, { name: "a" }] }],
  [{ parts: [{ name: "a", tags: ["x"] }] }, { parts: [{ name: "a", tags: ["y", "x"] }] }],
  [
    { ports: [{ port: 1 }] },
    {
      ports: [
        { port: 1, protocol: "UDP" },
        { port: 1, protocol: "TCP", name: "n" },
      ],
    },
  ],
  [{ tags: ["a", "b"] }, { tags: ["b", "c"] }],
  [{ words: ["a"] }, { words: ["b"] }],
  [{ objects: [{ name: "a" }] }, { objects: [{ name: "b" }] }],
  [{ labels: { a: "1" } }, { labels: { b: "2" } }],
  [{ tables: { a: { name: "x" } } }, { tables: { a: { name: "x", value: 1 }, b: { name: "y" } } }],
  [{ selector: { a: "1" } }, { selector: { a: "1", b: "2" } }],
  [{ pair: { a: "x", b: { c: 1 } } }, { pair: { b: { d: 2 } } }],
  [{ pair: {} }, { pair: { a: "1" } }],
  [{ free: { a: { b: [1] }, c: 1 } }, { free: { a: { d: 1 } } }],
  [{ any: 1 }, { any: { a: 1 } }],
  [{ any: { a: 1 } }, { any: [1] }],
  [{ any: { a: 1 } }, { any: "x" }],
  [{ mixed: 1 }, { mixed: "x" }],
  [{ maybe: null }, { maybe: "x" }],
  [{ maybe: "x" }, { maybe: null }],
  [{ embedded: { apiVersion: "v1", kind: "X", metadata: { labels: { a: "1" } } } }, { size: 1 }],
  [{ labels: {} }, { labels: { a: "1" } }],
  [{ parts: [] }, { parts: [{ name: "a" }] }],
  [{ tags: [] }, { tags: ["a"] }],
  [{ words: [] }, { words: ["a"] }],
  [{ labels: { a: "1" } }, { labels: null }],
  [{ parts: [{ name: "a" }] }, { parts: null }],
  [{ words: ["a"] }, { words: null }],
  [{ size: 1 }, { size: null }],
];
const inTurn = ([first, second]: readonly [JsonObject, JsonObject]): Case =>
  caseOf(
    `two managers of a Bundle: ${short([first, second])}`,
    apply(bundleAt, of(first), "one"),
    apply(bundleAt, of(second), "two"),
    apply(bundleAt, of(second), "two", "force=true"),
    apply(bundleAt, of(first), "one", "force=true"),
    apply(bundleAt, of({}), "two"),
    apply(bundleAt, of({}), "one"),
    get(bundleAt),
  );

/** Configurations that one manager applies to a Bundle that another one has made. */
const afterUpdate: Case[] = pairs.map(([first, second]) =>
  caseOf(
    `after an update of a Bundle: ${short([first, second])}`,
    post(`${bundlesIn}?fieldManager=maker`, of(first)),
    apply(bundleAt, of(second), "one"),
    apply(bundleAt, of(second), "one", "force=1"),
    updated(bundleAt, { spec: first }, "maker"),
    apply(bundleAt, of({}), "one"),
    get(bundleAt),
  ),
);

const orders: readonly (readonly string[])[] = [
  ["a", "b", "c"],
  ["c", "b", "a"],
  ["d", "b"],
  ["x", "c", "y", "a", "z"],
  ["b", "x", "c", "a"],
  ["c"],
];
const inOrder: Case[] = orders.flatMap((second) =>
  orders.map((first) =>
    caseOf(
      `order of items: ${first.join("")}, then ${second.join("")}`,
      apply(bundleAt, of({ tags: first, parts: first.map((name) => ({ name })) }), "one"),
      apply(bundleAt, of({ tags: second, parts: second.map((name) => ({ name })) }), "two"),
      apply(
        bundleAt,
        of({ tags: ["e", ...second], parts: [...second, "e"].map((name) => ({ name })) }),
        "one",
      ),
    ),
  ),
);

const typed = (step: Step, contentType: string): Step => ({
  ...step,
  headers: { "content-type": contentType },
});
const yaml = "application/apply-patch+yaml";
const options: Case[] = [
  caseOf(
    "parameters",
    typed(patch(at, map({ x: "1" })), yaml),
    typed(patch(`${at}?fieldManager=`, map({ x: "1" })), yaml),
    typed(patch(`${at}?fieldManager=${"x".repeat(129)}`, map({ x: "1" })), yaml),
    apply(at, map({ x: "1" }), "one", "dryRun=Bogus&force=1"),
    apply(at, map({ x: "1" }), "one", "fieldValidation=Bogus"),
    apply(at, map({ x: "1" }), "one", "dryRun=All"),
    get(at),
    apply(at, map({ x: "1" }), "one", "fieldValidation=Strict"),
    apply(at, map({ x: "2" }), "one", "dryRun=All"),
    apply(at, map({ x: "2" }), "two", "dryRun=All"),
    apply(at, map({ x: "2" }), "two", "force=false"),
    apply(at, map({ x: "2" }), "two", "force=0"),
    apply(at, map({ x: "2" }), "two", "force=true&dryRun=All"),
    apply(at, map({ x: "2" }), "two", "force="),
    patch(`${at}?force=true`, {}),
    typed(apply(at, map({ x: "3" }), "one", "force=true"), `${yaml}; charset=utf-8`),
    get(at),
  ),
  caseOf(
    "names in paths",
    apply(configMapsIn, map({}), "one"),
    apply(`${configMapsIn}/A_b`, configMap("A_b"), "one"),
    apply("/api/v1/namespaces/absent/configmaps/a", map({}), "one"),
    apply("/apis/example.com/v1/namespaces/absent/bundles/a", of({}), "one"),
    apply(bundlesIn, of({}), "one"),
    patch(bundlesIn, {}),
  ),
];

/** A ConfigMap that kubectl has applied on the client. */
const lastApplied = (data: JsonObject): JsonObject => {
  const text = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data });
  return map(data, { annotations: { "kubectl.kubernetes.io/last-applied-configuration": text } });
};
const oldWidget = `${widgetsIn.replace("v1/", "v1beta1/")}/a`;
const states: Case[] = [
  caseOf(
    "versions and uids as preconditions",
    named("made", apply(at, map({ x: "1" }), "one")),
    apply(at, map({ x: "2" }, { resourceVersion: "<made.metadata.resourceVersion>" }), "one"),
    apply(at, map({ x: "3" }, { resourceVersion: "<made.metadata.resourceVersion>" }), "one"),
    apply(at, map({ x: "4" }, { uid: "<made.metadata.uid>" }), "one"),
    apply(at, map({ x: "5" }, { uid: "c0ffee00-0000-4000-8000-000000000000" }), "one"),
    get(at),
  ),
  caseOf(
    "nothing changes",
    apply(at, map({ x: "1" }), "one"),
    apply(at, map({ x: "1" }), "one"),
    apply(at, map({ x: "1" }), "two"),
    apply(at, map({ x: "1" }), "two"),
    updated(at, { data: { x: "1" } }, "three"),
    put(`${at}?fieldManager=three`, map({ x: "1" })),
    get(at),
  ),
  caseOf(
    "update and apply by one manager",
    post(`${configMapsIn}?fieldManager=one`, map({ x: "1", y: "1" }, { labels: { l: "1" } })),
    apply(at, map({ x: "1" }), "one"),
    apply(at, map({ x: "2" }), "one"),
    apply(at, map({ x: "2" }), "one", "force=true"),
    updated(at, { data: { x: "3", z: "1" } }, "one"),
    apply(at, map({ y: "1" }), "one"),
    apply(at, map({}), "one"),
    get(at),
  ),
  caseOf(
    "managedFields by clients",
    apply(at, map({ x: "1" }), "one"),
    updated(at, { metadata: { managedFields: [{}] } }, "two"),
    updated(at, { data: { y: "1" } }, "two"),
    apply(at, map({ x: "1" }), "one"),
    apply(at, map({ x: "2" }), "one"),
    updated(
      at,
      {
        metadata: {
          managedFields: [
            {
              manager: "set",
              operation: "Apply",
              apiVersion: "v1",
              time: "2024-01-01T00:00:00Z",
              fieldsType: "FieldsV1",
              fieldsV1: { "f:data": { "f:x": {} } },
            },
          ],
        },
      },
      "two",
    ),
    apply(at, map({}), "set"),
    get(at),
  ),
  caseOf(
    "finalizers and owners",
    apply(at, map({}, { finalizers: ["e.x/a"], labels: { l: "1" }, annotations: { "e.x/y": "1" } }), "one"),
    apply(at, map({}, { finalizers: ["e.x/b"] }), "two"),
    apply(
      at,
      map({}, { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }] }),
      "three",
    ),
    apply(
      at,
      map({}, { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "m", uid: "u" }] }),
      "four",
    ),
    apply(at, map({}), "two"),
    apply(at, map({}), "one"),
    apply(at, map({}), "three"),
    get(at),
  ),
  caseOf(
    "an object that is being deleted",
    apply(at, map({ x: "1" }, { finalizers: ["e.x/a"] }), "one"),
    del(at),
    apply(at, map({ x: "2" }, { finalizers: ["e.x/a"] }), "one"),
    apply(at, map({}, { finalizers: ["e.x/b"] }), "two"),
    apply(at, map({ x: "2" }), "one"),
    get(at),
    apply(at, map({ x: "2" }), "one"),
  ),
  ...["kubectl", "other"].map((manager) =>
    caseOf(
      `an apply on the server by ${manager}, after one on the client`,
      post(`${configMapsIn}?fieldManager=client`, lastApplied({ x: "1", y: "1", z: "1" })),
      updated(at, { data: { z: "2" } }, "two"),
      apply(at, map({ x: "2", y: "1" }), manager),
      apply(at, map({ x: "2", y: "2", z: "3" }, { annotations: { "e.x/y": "<&>" } }), manager),
      apply(at, map({ x: "2", y: "2", z: "3" }), manager, "force=true"),
      apply(at, map({}), manager),
      get(at),
    ),
  ),
  caseOf(
    "more than ten updaters",
    post(`${configMapsIn}?fieldManager=a`, map({ a: "1" })),
    ..."b c d e f g h i j k l m n".split(" ").map((one) => updated(at, { data: { [one]: "1" } }, one)),
    apply(at, map({ a: "2", b: "2" }), "one", "force=true"),
    get(at),
  ),
  caseOf(
    "the status",
    apply(`${bundleAt}/status`, bundle("a", { status: { seen: 1 } }), "one"),
    apply(bundleAt, bundle("a", { spec: { size: 1 }, status: { seen: 1 } }), "one"),
    apply(
      `${bundleAt}/status`,
      bundle("a", { spec: { size: 2 }, status: { seen: 1 } }, { labels: { l: "1" } }),
      "one",
    ),
    apply(`${bundleAt}/status`, bundle("a", { status: { seen: 2 } }), "two"),
    apply(
      `${bundleAt}/status`,
      bundle("a", { status: { seen: 2, conditions: [{ type: "A", status: "x" }] } }),
      "two",
      "force=true",
    ),
    patch(`${bundleAt}/status?fieldManager=three`, {
      status: {
        conditions: [
          { type: "A", status: "y" },
          { type: "B", status: "z" },
        ],
      },
    }),
    apply(`${bundleAt}/status`, bundle("a", { status: { conditions: [{ type: "B", status: "x" }] } }), "one"),
    apply(`${bundleAt}/status`, bundle("a", {}), "two"),
    put(`${bundleAt}?fieldManager=four`, bundle("a", { spec: { size: 3 } }, { resourceVersion: "1" })),
    get(bundleAt),
  ),
  caseOf(
    "two versions",
    apply(bundleAt, of({ size: 1, parts: [{ name: "a" }, { name: "b" }] }), "one"),
    apply(
      bundleAt.replace("v1/", "v1beta1/"),
      object("example.com/v1beta1", "Bundle", "a", { spec: { size: 1, parts: [{ name: "b" }] } }),
      "one",
    ),
    apply(
      bundleAt.replace("v1/", "v1beta1/"),
      object("example.com/v1beta1", "Bundle", "a", { spec: { size: 2 } }),
      "two",
    ),
    apply(
      bundleAt.replace("v1/", "v1beta1/"),
      object("example.com/v1beta1", "Bundle", "a", { spec: { size: 2 } }),
      "two",
      "force=1",
    ),
    patch(`${bundleAt.replace("v1/", "v1beta1/")}?fieldManager=three`, { spec: { labels: { a: "1" } } }),
    apply(bundleAt, of({ labels: { a: "2" } }), "two"),
    apply(bundleAt, of({}), "one"),
    get(bundleAt),
  ),
  caseOf(
    "a field that another version lacks",
    apply(`${widgetsIn}/a`, widget("a", { spec: { size: 1 } }), "one"),
    apply(oldWidget, object("example.com/v1beta1", "Widget", "a", { spec: { old: "x" } }), "two"),
    apply(oldWidget, object("example.com/v1beta1", "Widget", "a", { spec: { old: "x" } }), "one"),
    patch(oldWidget, { spec: { old: "y" } }),
    apply(oldWidget, object("example.com/v1beta1", "Widget", "a", { spec: { old: "x" } }), "two"),
    get(oldWidget),
  ),
  caseOf(
    "a Widget, whose lists have no type",
    apply(`${widgetsIn}/a`, widget("a", { spec: { size: 1, tags: ["a"], nested: { deep: {} } } }), "one"),
    apply(`${widgetsIn}/a`, widget("a", { spec: { tags: ["b"], nested: { deep: { leaf: "x" } } } }), "two"),
    apply(
      `${widgetsIn}/a`,
      widget("a", { spec: { tags: ["b"], nested: { deep: { leaf: "x" } } } }),
      "two",
      "force=1",
    ),
    apply(`${widgetsIn}/a`, widget("a", { spec: {} }), "two"),
    get(`${widgetsIn}/a`),
  ),
];

export const applyCases: readonly Case[] = [
  ...options,
  ...applyBodies,
  ...states,
  ...pairs.map(inTurn),
  ...afterUpdate,
  ...inOrder,
  ...applyKinds,
];
