// Server-side apply, who comes to own what, and the scale.
import type { Json, JsonObject } from "../../src/json.ts";
import { configMap, configMapsIn, widget, widgetsIn } from "../fixtures.ts";
import { del, get, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const apply = (path: string, manager: string, body: Json, query = ""): Step => ({
  method: "PATCH",
  path: `${path}?fieldManager=${manager}${query}`,
  body,
  headers: { "content-type": "application/apply-patch+yaml" },
});
const map = (data: JsonObject, metadata: JsonObject = {}): JsonObject => configMap("a", { data }, metadata);
const thing = (spec: JsonObject, more: JsonObject = {}): JsonObject => widget("a", { spec, ...more });
const deployment = (container: JsonObject, spec: JsonObject = {}, labels: JsonObject = {}): JsonObject =>
  object("apps/v1", "Deployment", "a", {
    spec: {
      selector: { matchLabels: { app: "a" } },
      template: {
        metadata: { labels: { app: "a", ...labels } },
        spec: { containers: [{ name: "main", image: "i:1", ...container }] },
      },
      ...spec,
    },
  });
const deploymentsIn = "/apis/apps/v1/namespaces/<ns>/deployments";
const servicesIn = "/api/v1/namespaces/<ns>/services";
const service = (...ports: readonly JsonObject[]): JsonObject =>
  object("v1", "Service", "a", { spec: { ports } });
const port = (containerPort: number, more: JsonObject = {}): JsonObject => ({ containerPort, ...more });
const env = (name: string, value: string): JsonObject => ({ name, value });

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly list: string;
  readonly mine: JsonObject;
  /** Says otherwise than `mine`. */
  readonly contrary: JsonObject;
  /** Says more than `mine`, and nothing otherwise. */
  readonly beside: JsonObject;
}
const kinds: readonly Kind[] = [
  {
    name: "a ConfigMap",
    list: configMapsIn,
    path: `${configMapsIn}/a`,
    mine: map({ x: "1", y: "1" }, { labels: { l: "1" } }),
    contrary: map({ x: "2", z: "2" }, { labels: { l: "2" } }),
    beside: map({ x: "1", w: "3" }, { annotations: { a: "1" }, finalizers: ["e.x/a"] }),
  },
  {
    name: "a Widget",
    list: widgetsIn,
    path: `${widgetsIn}/a`,
    mine: thing({ size: 1, tags: ["a"], nested: { deep: { leaf: "l" } } }),
    contrary: thing({ size: 2, tags: ["b"], nested: { deep: { leaf: "m" } } }),
    beside: thing({ colour: "blue" }),
  },
  {
    name: "a Deployment",
    list: deploymentsIn,
    path: `${deploymentsIn}/a`,
    mine: deployment({ env: [env("A", "1")], ports: [port(80)], args: ["1"] }, { replicas: 2 }),
    contrary: deployment(
      { env: [env("A", "2")], ports: [port(80, { name: "p" })], args: ["2"] },
      { replicas: 3 },
    ),
    beside: deployment({ env: [env("B", "2")], ports: [port(80, { protocol: "UDP" })] }, {}, { l: "1" }),
  },
  {
    name: "a Service",
    list: servicesIn,
    path: `${servicesIn}/a`,
    mine: service({ port: 80, name: "a" }),
    contrary: service({ port: 80, name: "b" }),
    beside: service({ port: 81, name: "c" }),
  },
];

/** What two appliers may do to each other. */
const appliers = kinds.flatMap(({ name, path, mine, contrary, beside }): Case[] => [
  {
    name: `${name}: created, applied again, changed`,
    steps: [apply(path, "me", mine), apply(path, "me", mine), apply(path, "me", beside), get(path)],
  },
  {
    name: `${name}: against each other`,
    steps: [
      apply(path, "me", mine),
      apply(path, "you", contrary),
      get(path),
      apply(path, "you", contrary, "&force=true"),
      apply(path, "me", mine),
      apply(path, "me", beside, "&force=true"),
      get(path),
    ],
  },
  {
    name: `${name}: beside each other`,
    steps: [
      apply(path, "me", mine),
      apply(path, "you", beside),
      apply(path, "me", beside),
      apply(path, "you", mine),
      get(path),
    ],
  },
]);

/** What appliers and those who update may do to each other. */
const updaters = kinds.flatMap(({ name, path, list, mine, contrary, beside }): Case[] => [
  {
    name: `${name}: created, then applied`,
    steps: [
      post(`${list}?fieldManager=maker`, mine),
      apply(path, "me", contrary),
      apply(path, "me", beside),
      apply(path, "me", contrary, "&force=true"),
    ],
  },
  {
    name: `${name}: applied, then updated`,
    steps: [
      apply(path, "me", mine),
      put(`${path}?fieldManager=other`, contrary),
      patch(`${path}?fieldManager=patcher`, { metadata: { labels: { by: "patch" } } }),
      apply(path, "me", mine),
      apply(path, "me", mine, "&force=1"),
      patch(`${path}?fieldManager=patcher`, { metadata: { labels: { by: null } } }),
      get(path),
    ],
  },
  {
    name: `${name}: in a dry run`,
    steps: [
      apply(path, "me", mine, "&dryRun=All"),
      get(path),
      apply(path, "me", mine),
      apply(path, "me", beside, "&dryRun=All"),
      apply(path, "you", contrary, "&dryRun=All"),
      get(path),
    ],
  },
  {
    name: `${name}: owners that are asked to be forgotten`,
    steps: [
      apply(path, "me", mine),
      patch(path, { metadata: { managedFields: [] } }),
      apply(path, "me", mine),
      patch(path, { metadata: { managedFields: [{}] } }),
      patch(`${path}?fieldManager=patcher`, { metadata: { labels: { by: "patch" } } }),
      apply(path, "you", contrary),
      apply(path, "you", contrary, "&force=true"),
    ],
  },
]);

const there = post(configMapsIn, map({ x: "1" }));
const agent = (step: Step, name: string): Step => ({
  ...step,
  headers: { ...step.headers, "user-agent": name },
});
const long = "m".repeat(129);
const options: readonly Case[] = [
  ...["", "&force=true", "&force=false", "&force=", "&force=x", "&fieldValidation=Strict", "&dryRun=x"].map(
    (query): Case => ({
      name: `apply with ${query || "nothing"}`,
      steps: [there, apply(`${configMapsIn}/a`, "me", map({ x: "2" }), query), get(`${configMapsIn}/a`)],
    }),
  ),
  ...["", long, "a%01b", "a%E2%80%A8b", "ünï", "a%2Fb", "%20"].map((manager): Case => ({
    name: `the manager ${manager.slice(0, 12) || "without a name"}`,
    steps: [
      post(`${configMapsIn}?fieldManager=${manager}`, map({ x: "1" })),
      apply(`${configMapsIn}/a`, manager, map({ y: "2" })),
      patch(`${configMapsIn}/a?fieldManager=${manager}`, { data: { z: "3" } }),
      put(`${configMapsIn}/a?fieldManager=${manager}`, map({ x: "4" })),
    ],
  })),
  ...["kubectl/v1 (linux)", "a b/c", "/", "curl"].map((name): Case => ({
    name: `the user agent ${name}`,
    steps: [agent(there, name), agent(patch(`${configMapsIn}/a`, { data: { y: "1" } }), name)],
  })),
  {
    name: "force where nothing is applied",
    steps: [
      there,
      ...["merge-patch", "json-patch", "strategic-merge-patch"].map((kind) =>
        patch(`${configMapsIn}/a?force=true`, kind === "json-patch" ? [] : {}, kind),
      ),
      put(`${configMapsIn}/a?force=true`, map({ x: "2" })),
      post(`${configMapsIn}?force=true`, configMap("b")),
    ],
  },
];

const bodies: readonly Json[] = [
  {},
  { apiVersion: "v1", kind: "ConfigMap" },
  { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
  { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "a" } },
  configMap("b", { data: { x: "1" } }),
  map({ x: "1" }, { namespace: "other" }),
  map({ x: "1" }, { managedFields: [{}] }),
  map({ x: "1" }, { managedFields: [] }),
  map({ x: "1" }, { uid: "00000000-0000-0000-0000-000000000000" }),
  map({ x: "1" }, { resourceVersion: "1" }),
  map({ x: "1" }, { finalizers: ["e.x/a", "e.x/a"] }),
  configMap("a", { data: null }),
  configMap("a", { data: { x: null } }),
  configMap("a", { bogus: 1 }),
  configMap("a", { immutable: true, data: {} }),
];
const refused = bodies.flatMap((body, i): Case[] => [
  {
    name: `body ${i + 1} on what is not there`,
    steps: [apply(`${configMapsIn}/a`, "me", body), get(`${configMapsIn}/a`)],
  },
  {
    name: `body ${i + 1} on what is there`,
    steps: [there, apply(`${configMapsIn}/a`, "me", body, "&force=true"), get(`${configMapsIn}/a`)],
  },
]);

const status = (value: JsonObject): JsonObject => widget("a", { spec: { size: 1 }, status: value });
const statuses: readonly Case[] = [
  {
    name: "the status of a Widget",
    steps: [
      apply(`${widgetsIn}/a/status`, "me", status({ ready: true })),
      apply(`${widgetsIn}/a`, "me", status({ ready: true })),
      apply(`${widgetsIn}/a/status`, "me", status({ ready: true })),
      apply(`${widgetsIn}/a/status`, "you", status({ ready: false })),
      apply(`${widgetsIn}/a/status`, "you", status({ ready: false, more: 1 }), "&force=true"),
      patch(`${widgetsIn}/a/status?fieldManager=p`, { status: { more: 2 } }),
      apply(`${widgetsIn}/a/status`, "you", status({})),
      get(`${widgetsIn}/a`),
    ],
  },
  {
    name: "the status of a Deployment",
    steps: [
      apply(`${deploymentsIn}/a`, "me", deployment({})),
      apply(`${deploymentsIn}/a/status`, "me", {
        ...object("apps/v1", "Deployment", "a"),
        status: { replicas: 1, conditions: [{ type: "A", status: "True" }] },
      }),
      apply(`${deploymentsIn}/a/status`, "you", {
        ...object("apps/v1", "Deployment", "a"),
        status: { conditions: [{ type: "B", status: "True" }] },
      }),
      get(`${deploymentsIn}/a`),
    ],
  },
];

const scaleOf = (replicas: number, metadata: JsonObject = {}): JsonObject =>
  object("autoscaling/v1", "Scale", "a", { spec: { replicas } }, metadata);
const scaleAt = `${deploymentsIn}/a/scale`;
const scaled: readonly Case[] = [
  {
    name: "the scale of a Deployment",
    steps: [
      get(scaleAt),
      post(deploymentsIn, deployment({}, { replicas: 2 })),
      get(scaleAt),
      put(`${scaleAt}?fieldManager=s`, scaleOf(3)),
      patch(`${scaleAt}?fieldManager=t`, { spec: { replicas: 4 } }),
      patch(scaleAt, { spec: { replicas: -1 } }),
      patch(scaleAt, { spec: { replicas: "x" } }),
      patch(`${scaleAt}?dryRun=All`, { spec: { replicas: 9 } }),
      patch(scaleAt, { spec: { replicas: 0 } }),
      get(scaleAt),
      get(`${deploymentsIn}/a`),
      post(scaleAt, scaleOf(1)),
      del(scaleAt),
    ],
  },
  {
    name: "the scale of a Deployment, applied",
    steps: [
      apply(`${deploymentsIn}/a`, "me", deployment({}, { replicas: 2 })),
      apply(scaleAt, "you", scaleOf(3)),
      apply(scaleAt, "you", scaleOf(3), "&force=true"),
      apply(`${deploymentsIn}/a`, "me", deployment({}, { replicas: 2 })),
      apply(`${deploymentsIn}/a`, "me", deployment({})),
      get(`${deploymentsIn}/a`),
    ],
  },
  {
    name: "a Scale that does not fit",
    steps: [
      post(deploymentsIn, deployment({})),
      put(scaleAt, scaleOf(3, { name: "b" })),
      put(scaleAt, scaleOf(3, { resourceVersion: "1" })),
      put(scaleAt, scaleOf(3, { uid: "00000000-0000-0000-0000-000000000000" })),
      put(scaleAt, deployment({})),
      put(scaleAt, {}),
      get(`${widgetsIn}/a/scale`),
    ],
  },
];

export const applied: readonly Case[] = [
  ...appliers,
  ...updaters,
  ...options,
  ...refused,
  ...statuses,
  ...scaled,
];
