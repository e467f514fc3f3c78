// Valid and invalid merge, JSON and strategic merge patches.
import type { Json, JsonObject } from "../../src/json.ts";
import {
  configMap,
  configMapsIn,
  pod,
  podsIn,
  samplesIn,
  service,
  servicesIn,
  widget,
  widgetsIn,
} from "../fixtures.ts";
import { caseOf, get, named, object, patch, post } from "../steps.ts";
import type { Case } from "../steps.ts";

const map = configMap(
  "a",
  { data: { x: "1", y: "2" } },
  { labels: { l: "1" }, finalizers: ["e.x/a", "e.x/b"] },
);
const thing = widget(
  "a",
  { spec: { size: 1, tags: ["a", "b", "c"], nested: { deep: { leaf: "l" } } } },
  { labels: { l: "1" } },
);

/** Patches that remove the kind of an object. */
const untyped: readonly Json[] = [
  { kind: null },
  { apiVersion: null },
  { apiVersion: "" },
  { kind: "" },
  { apiVersion: null, kind: null },
  { apiVersion: 1 },
];
const merges: readonly Json[] = [
  {},
  null,
  [],
  "x",
  1,
  { data: null },
  { data: { x: null, z: "3" } },
  { data: { x: 1 } },
  { data: [] },
  { kind: "Secret" },
  { apiVersion: "v2" },
  ...untyped,
  { apiVersion: null, data: { x: 1 } },
  { metadata: null },
  { metadata: { finalizers: null } },
  { metadata: { finalizers: ["e.x/c"] } },
  { metadata: { labels: { l: "-" } } },
  { metadata: { name: null } },
  { bogus: 1 },
  { immutable: true },
];
const widgetMerges: readonly Json[] = [
  { spec: null },
  { spec: { size: 0 } },
  { spec: { size: null } },
  { spec: { colour: null } },
  { spec: { colour: "green" } },
  { spec: { tags: ["z"] } },
  { spec: { tags: null } },
  { spec: { nested: { deep: null } } },
  { spec: { nested: { deep: { leaf: null } } } },
  { spec: [] },
  { status: { ready: true } },
  { metadata: { generation: 9 } },
  { kind: "Gadget" },
  ...untyped,
  { kind: 1 },
  { apiVersion: null, spec: { size: 0 } },
  { apiVersion: "example.com/v1beta1" },
  { apiVersion: "example.com/v1beta1", spec: { old: "x" } },
  null,
  [],
  { spec: { size: 2 }, status: { a: 1 } },
];
/** Nulls and lists where no schema is. */
const freeMerges: readonly Json[] = [
  { a: [{ b: null, c: [null] }], n: [1, null] },
  { o: [{ b: null }] },
  { o: { b: null, c: { d: null } } },
  { s: [1], a: 2 },
  JSON.parse('{"__proto__":{"x":1},"o":{"__proto__":null}}') as Json,
].map((free) => ({ spec: { free } }));
const op = (name: string, path: string, more: object = {}): Json => ({ op: name, path, ...more });
const jsons: readonly Json[] = [
  [],
  {},
  null,
  [op("add", "/data/z", { value: "3" })],
  [op("add", "/data/x", { value: "9" })],
  [op("add", "/none/z", { value: "3" })],
  [op("add", "/data", { value: { only: "1" } })],
  [op("add", "", { value: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } } })],
  [op("remove", "/data/x")],
  [op("remove", "/data/none")],
  [op("remove", "/none")],
  [op("remove", "")],
  [op("replace", "/data/x", { value: "7" })],
  [op("replace", "/data/none", { value: "7" })],
  [op("replace", "/data/x", { value: 7 })],
  [op("replace", "/data/x")],
  [op("test", "/data/x", { value: "1" })],
  [op("test", "/data/x", { value: "2" })],
  [op("test", "/data/none", { value: null })],
  [op("test", "/data/none", { value: "1" })],
  [op("test", "/metadata/finalizers", { value: ["e.x/a", "e.x/b"] })],
  [op("move", "/data/z", { from: "/data/x" })],
  [op("move", "/data/z", { from: "/data/none" })],
  [op("move", "/data/x", { from: "/data/x" })],
  [op("copy", "/data/z", { from: "/data/x" })],
  [op("copy", "/data/z")],
  [op("add", "/metadata/finalizers/-", { value: "e.x/c" })],
  [op("add", "/metadata/finalizers/0", { value: "e.x/c" })],
  [op("add", "/metadata/finalizers/2", { value: "e.x/c" })],
  [op("add", "/metadata/finalizers/9", { value: "e.x/c" })],
  [op("add", "/metadata/finalizers/-1", { value: "e.x/c" })],
  [op("add", "/metadata/finalizers/x", { value: "e.x/c" })],
  [op("remove", "/metadata/finalizers/0")],
  [op("remove", "/metadata/finalizers/9")],
  [op("remove", "/metadata/finalizers/-")],
  [op("replace", "/metadata/finalizers/1", { value: "e.x/c" })],
  [op("add", "/metadata/labels/a~1b", { value: "v" })],
  [op("add", "/metadata/labels/a~0b", { value: "v" })],
  [op("add", "/metadata/annotations/a", { value: "v" })],
  [op("add", "data/z", { value: "3" })],
  [op("bogus", "/data/x")],
  [{ path: "/data/x" }],
  [{ op: "add", value: "x" }],
  [1],
  ["add"],
  [op("test", "/data/x", { value: "2" }), op("remove", "/data/x")],
  [op("remove", "/data/x"), op("test", "/data/x", { value: "1" })],
  [op("replace", "/metadata/name", { value: "b" })],
  [op("replace", "/kind", { value: "Secret" })],
  [op("remove", "/kind")],
  [op("remove", "/apiVersion")],
  [op("replace", "/apiVersion", { value: "" })],
  [op("replace", "/metadata/resourceVersion", { value: "1" })],
];

const two = pod(
  "a",
  {
    containers: [
      {
        name: "one",
        image: "i",
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "2" },
        ],
        ports: [{ containerPort: 80 }, { containerPort: 81 }],
      },
      { name: "two", image: "i" },
    ],
    tolerations: [{ key: "a", operator: "Exists" }],
    volumes: [{ name: "v", emptyDir: {} }],
    imagePullSecrets: [{ name: "s" }],
  },
  { labels: { x: "y" } },
);
const strategics: readonly Json[] = [
  {},
  null,
  [],
  "x",
  { metadata: { labels: { a: "1" } } },
  { metadata: { labels: { $patch: "replace", a: "1" } } },
  { metadata: { labels: { $patch: "delete" } } },
  { metadata: { labels: { $patch: "bogus" } } },
  { metadata: { finalizers: ["e.x/a"] } },
  { metadata: { "$deleteFromPrimitiveList/finalizers": ["e.x/a"] } },
  { metadata: { "$setElementOrder/finalizers": ["e.x/b", "e.x/a"], finalizers: ["e.x/b", "e.x/a"] } },
  { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" }] } },
  { spec: { containers: [{ name: "one", image: "j" }] } },
  {
    spec: {
      containers: [
        { name: "two", image: "j" },
        { name: "one", image: "k" },
      ],
    },
  },
  {
    spec: {
      "$setElementOrder/containers": [{ name: "two" }, { name: "one" }],
      containers: [{ name: "two", image: "j" }],
    },
  },
  { spec: { containers: [{ image: "j" }] } },
  { spec: { containers: [1] } },
  { spec: { containers: "x" } },
  {
    spec: {
      tolerations: [
        { key: "a", operator: "Exists" },
        { key: "b", operator: "Exists" },
      ],
    },
  },
  { spec: { activeDeadlineSeconds: 5 } },
  { spec: { terminationGracePeriodSeconds: 1 } },
  { spec: { nodeName: "n" } },
  { status: { phase: "Running" } },
  { kind: "Other" },
  { kind: null },
  { apiVersion: null },
  { metadata: { labels: { $retainKeys: ["a"], a: "1" } } },
  { metadata: { labels: { $retainKeys: ["x", "a"], a: "1" } } },
  { metadata: { labels: { $retainKeys: ["x"] } } },
  { metadata: { labels: { $retainKeys: [], a: "1" } } },
  { metadata: { labels: { $retainKeys: [] } } },
  { metadata: { labels: { $retainKeys: "x" } } },
  { metadata: { labels: { $retainKeys: null, a: "1" } } },
  { metadata: { labels: { $retainKeys: [1] } } },
  { metadata: { labels: { $retainKeys: ["x"], $patch: "replace", a: "1" } } },
  { metadata: { annotations: { $retainKeys: ["a"], a: "1" } } },
  { metadata: { $retainKeys: ["labels"], labels: { a: "1" } } },
  { spec: { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } }] } },
  { spec: { volumes: [{ name: "v", $retainKeys: ["name", "emptyDir"], emptyDir: { medium: "Memory" } }] } },
  { spec: { containers: [{ name: "one", $retainKeys: ["name", "image"], image: "j" }] } },
];
const owner = (uid: string): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", name: "o", uid });
const account = object(
  "v1",
  "ServiceAccount",
  "a",
  {
    secrets: [{ name: "z" }, { name: "a" }, { name: "b" }],
  },
  { finalizers: ["e.x/a", "e.x/b"], labels: { x: "y" }, ownerReferences: [owner("u")] },
);
/** Lists that are merged by a key, and a set. */
const accountStrategics: readonly Json[] = [
  { secrets: [{ name: "a" }, { name: "c" }] },
  { metadata: { ownerReferences: [{ uid: "u", controller: true, name: null }, owner("w")] } },
  { metadata: { ownerReferences: [{ uid: "u", controller: true }, owner("w")] } },
  {
    secrets: [
      { name: "z", $patch: "delete" },
      { name: "none", $patch: "delete" },
    ],
  },
  { secrets: [{ $patch: "replace" }, { name: "y" }] },
  {
    secrets: [{ name: "c" }, { name: "a" }, { $patch: "delete", name: "b" }],
    "$setElementOrder/secrets": [{ name: "c" }, { name: "a" }],
  },
  { secrets: [{ name: "a" }], "$setElementOrder/secrets": [{ name: "b" }, { name: "a" }, { name: "z" }] },
  { secrets: null },
  { secrets: [{ kind: "k" }] },
  { metadata: { finalizers: ["e.x/c"], "$deleteFromPrimitiveList/finalizers": ["e.x/a"] } },
  { metadata: { $patch: "replace", name: "a", labels: { b: "1" } } },
  {
    metadata: {
      "$setElementOrder/finalizers": ["e.x/b", "e.x/c", "e.x/a"],
      finalizers: ["e.x/c"],
    },
  },
];
const short = (value: Json): string => JSON.stringify(value).slice(0, 100);

const of = (what: string, path: string, first: Json, kind: string, patches: readonly Json[]): Case[] =>
  patches.map((one) =>
    caseOf(
      `${kind} of a ${what}: ${short(one)}`,
      named("made", post(path, first)),
      patch(`${path}/a`, one, kind),
      get(`${path}/a`),
    ),
  );

export const patches: readonly Case[] = [
  ...of("ConfigMap", configMapsIn, map, "merge-patch", merges),
  ...of("Widget", widgetsIn, thing, "merge-patch", widgetMerges),
  ...of(
    "Sample",
    samplesIn,
    object("example.com/v1", "Sample", "a", { spec: { free: { a: [1, 2], o: { b: 1 }, s: "x" } } }),
    "merge-patch",
    freeMerges,
  ),
  ...of("ConfigMap", configMapsIn, map, "json-patch", jsons),
  ...of("Pod", podsIn, two, "strategic-merge-patch", strategics),
  ...of(
    "ServiceAccount",
    "/api/v1/namespaces/<ns>/serviceaccounts",
    account,
    "strategic-merge-patch",
    accountStrategics,
  ),
  ...of("Service", servicesIn, service("a"), "strategic-merge-patch", [
    {
      spec: {
        ports: [
          { port: 80, name: "y" },
          { port: 81, name: "z" },
        ],
      },
    },
    { spec: { ports: [{ port: 80, $patch: "delete" }, { port: 82 }] } },
    { spec: { ports: [{ name: "w" }] } },
  ]),
  ...of("Widget", widgetsIn, thing, "json-patch", [
    [op("add", "/spec/tags/-", { value: "z" })],
    [op("remove", "/spec/tags/1")],
    [op("replace", "/spec/size", { value: "x" })],
    [op("add", "/status", { value: { a: 1 } })],
    [op("remove", "/spec")],
    [op("remove", "/kind")],
    [op("remove", "/apiVersion")],
    [op("replace", "/apiVersion", { value: "" })],
    [op("test", "/spec/size", { value: 1 }), op("replace", "/spec/size", { value: 2 })],
    [op("test", "/spec/size", { value: 1.0 })],
  ]),
  ...of("Widget", widgetsIn, thing, "strategic-merge-patch", [{ spec: { size: 2 } }]),
  caseOf(
    "with a version, fresh and stale",
    named("made", post(configMapsIn, map)),
    patch(`${configMapsIn}/a`, {
      metadata: { resourceVersion: "<made.metadata.resourceVersion>" },
      data: { x: "5" },
    }),
    patch(`${configMapsIn}/a`, {
      metadata: { resourceVersion: "<made.metadata.resourceVersion>" },
      data: { x: "6" },
    }),
    patch(`${configMapsIn}/a`, { metadata: { resourceVersion: "<made.metadata.resourceVersion>" } }),
    patch(`${configMapsIn}/a`, { metadata: { uid: "<made.metadata.uid>" }, data: { x: "8" } }),
  ),
  caseOf(
    "of what is not there",
    ...["merge-patch", "json-patch", "strategic-merge-patch"].flatMap((kind) => [
      patch(`${configMapsIn}/none`, kind === "json-patch" ? [] : {}, kind),
      patch(`${widgetsIn}/none`, kind === "json-patch" ? [] : {}, kind),
    ]),
  ),
];
