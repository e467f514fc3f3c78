// Names, labels, annotations, owners and finalizers, good and bad; on create and on update.
import type { JsonObject } from "../../src/json.ts";
import { configMap, configMapsIn, gadgetsAt, pod, widget, widgetsIn } from "../fixtures.ts";
import { del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

const names = [
  "",
  "a",
  "A",
  "a_b",
  "-a",
  "a-",
  "a.b",
  "a..b",
  ".a",
  "1",
  "a b",
  "ä",
  "a/b",
  "a%b",
  "x".repeat(253),
  "x".repeat(254),
  "x".repeat(64),
];
const at = (path: string, apiVersion: string, kind: string, more: JsonObject = {}) => ({
  path,
  apiVersion,
  kind,
  more,
});
const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" };
/** One for each rule that names have. */
const ruled = [
  at(configMapsIn, "v1", "ConfigMap"),
  at("/api/v1/namespaces/<ns>/services", "v1", "Service", { spec: { ports: [{ port: 1 }] } }),
  at(
    "/apis/rbac.authorization.k8s.io/v1/namespaces/<ns>/rolebindings",
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    { roleRef },
  ),
  at(widgetsIn, "example.com/v1", "Widget", { spec: { size: 1 } }),
  at("/api/v1/namespaces?dryRun=All", "v1", "Namespace"),
];

const shortened = (text: string): string =>
  text.length > 40 ? `${text.slice(0, 10)}... of ${text.length}` : text;
const owner = (more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: "o",
  uid: "u",
  ...more,
});
const big = "x".repeat(200_000);

/** Metadata besides the name, one case each. */
const metadatas: readonly JsonObject[] = [
  ...[
    "",
    "a",
    "A.b_c-d",
    "-a",
    "a-",
    "a/b",
    "A/b",
    "/b",
    "a/",
    "a/b/c",
    "x".repeat(64),
    `${"x".repeat(254)}/a`,
    "a b",
  ].map((key) => ({ labels: { [key]: "v" } })),
  ...["", "v", "-v", "v w", "x".repeat(63), "x".repeat(64), "a/b"].map((value) => ({ labels: { a: value } })),
  ...[1, true, null, {}, []].map((value) => ({ labels: { a: value } })),
  ...[null, {}, [], "x", 1].map((labels) => ({ labels })),
  ...["a", "A/b", "-", "a/b/c", "x".repeat(64)].map((key) => ({ annotations: { [key]: "any\n thing" } })),
  { annotations: { a: big, b: big } },
  { annotations: { a: 1 } },
  { annotations: null },
  ...["a", "a/b", "A/b", "example.com/x", "kubernetes", "-", ""].map((one) => ({ finalizers: [one] })),
  { finalizers: ["a/b", "a/b"] },
  { finalizers: "a" },
  { finalizers: [null] },
  { finalizers: [] },
  { ownerReferences: [owner()] },
  { ownerReferences: [owner({ controller: true }), owner({ uid: "w", controller: true })] },
  { ownerReferences: [owner(), owner()] },
  { ownerReferences: [{}] },
  { ownerReferences: [owner({ apiVersion: "a/b/c" })] },
  { ownerReferences: [owner({ kind: "Event" })] },
  { ownerReferences: [owner({ blockOwnerDeletion: true, controller: false, bogus: 1 })] },
  { ownerReferences: [null] },
  { ownerReferences: {} },
  { uid: "mine", creationTimestamp: "2020-01-01T00:00:00Z", generation: 7, selfLink: "/x" },
  { creationTimestamp: "yesterday" },
  { creationTimestamp: null },
  { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 },
  { deletionGracePeriodSeconds: "5" },
  { generation: "7" },
  { resourceVersion: "5" },
  { resourceVersion: "" },
  { resourceVersion: "x" },
  { namespace: "other" },
  { namespace: "" },
  { namespace: 5 },
  { bogus: { a: [1] } },
  { Name: "upper" },
];

const said = (metadata: JsonObject): string => shortened(JSON.stringify(metadata));

const generate: readonly Case[] = [
  "gen-",
  "gen",
  "Gen-",
  "g_",
  "x".repeat(62),
  "x".repeat(250),
  "-",
  "a.",
].map((generateName) => ({
  name: `generateName ${shortened(generateName)}`,
  steps: [
    post(configMapsIn, { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName } }),
    post(widgetsIn, {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { generateName },
      spec: { size: 1 },
    }),
  ],
}));

/** What an update may do to metadata. Each is a patch of an object with a label and an annotation. */
const updates: readonly JsonObject[] = [
  { name: "other" },
  { namespace: "other" },
  { uid: "other" },
  { uid: null },
  { creationTimestamp: "2020-01-01T00:00:00Z" },
  { creationTimestamp: null },
  { generation: 77 },
  { deletionTimestamp: "2020-01-01T00:00:00Z" },
  { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5, labels: { b: "1" } },
  { deletionGracePeriodSeconds: 5 },
  { deletionTimestamp: null, deletionGracePeriodSeconds: null },
  { resourceVersion: "1" },
  { resourceVersion: null },
  { resourceVersion: "x" },
  { generateName: "g-" },
  { labels: null },
  { labels: { a: null, b: "2" } },
  { labels: { "-": "" } },
  { annotations: { a: null } },
  { finalizers: ["a/b"] },
  { ownerReferences: [owner()] },
  { ownerReferences: [{ name: "x" }] },
  { bogus: 1 },
];
const updated = (path: string, first: JsonObject, change: JsonObject): Step[] => [
  named("made", post(path, first)),
  patch(`${path}/a`, { metadata: change }),
  get(`${path}/a`),
];

const servicesIn = "/api/v1/namespaces/<ns>/services";
const service = (
  name: string,
  spec: JsonObject = { ports: [{ port: 1 }] },
  more: JsonObject = {},
): JsonObject => object("v1", "Service", name, { spec }, more);
/** Names that a Service cannot have, with and without an address to be found for it. */
const services: readonly Case[] = ["", "a/b", "a%b", ".", "..", "A", "1a", "a.b"].map((name) => ({
  name: `Services called ${JSON.stringify(name)}, whatever else is wrong`,
  steps: [
    ...[
      { ports: [{ port: 1 }], clusterIP: "None" },
      { type: "ExternalName", externalName: "e.x" },
      { type: "NodePort", ports: [{ port: 1 }] },
      { ports: [] },
      { type: "None" },
    ].map((spec) => post(servicesIn, service(name, spec))),
    post(`${servicesIn}?dryRun=All`, service(name)),
    post(servicesIn, service(name, { ports: [{ port: 1 }] }, { labels: { "-": "-" } })),
    post(servicesIn, service(name, { ports: [{ port: 1 }] }, { generateName: "g-" })),
    post(servicesIn, service(name, { ports: [{ port: 1 }] }, { generateName: "G_" })),
    post(servicesIn, { ...service(name), bogus: 1 }),
    post(`${servicesIn}?fieldValidation=Strict`, { ...service(name), bogus: 1 }),
  ],
}));

/** What somebody who may only write the status sends besides, of objects that are and are not being deleted. */
const deletion = { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 };
const byStatus: readonly { path: string; first: (more: JsonObject) => JsonObject; spec: JsonObject }[] = [
  { path: widgetsIn, first: (more) => widget("a", undefined, more), spec: { size: 2 } },
  {
    path: "/api/v1/namespaces/<ns>/pods",
    first: (more) => pod("a", {}, more),
    spec: { activeDeadlineSeconds: 5 },
  },
  { path: servicesIn, first: (more) => service("a", undefined, more), spec: { ports: [{ port: 2 }] } },
  {
    path: "/apis/apps/v1/namespaces/<ns>/deployments",
    first: (more) => object("apps/v1", "Deployment", "a", { spec: workload }, more),
    spec: { replicas: 3 },
  },
  {
    path: "/apis/apps/v1/namespaces/<ns>/replicasets",
    first: (more) => object("apps/v1", "ReplicaSet", "a", { spec: workload }, more),
    spec: { replicas: 3 },
  },
  {
    path: "/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets",
    first: (more) => object("policy/v1", "PodDisruptionBudget", "a", { spec: { minAvailable: 1 } }, more),
    spec: { minAvailable: 2 },
  },
];
const workload = {
  selector: { matchLabels: { app: "a" } },
  template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "image" }] } },
};
const changesByStatus: readonly ((spec: JsonObject) => JsonObject)[] = [
  (spec) => ({ spec }),
  (spec) => ({ spec, status: { conditions: [{ type: "T", status: "True" }] } }),
  () => ({ metadata: deletion }),
  () => ({ metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null } }),
  () => ({ metadata: { deletionGracePeriodSeconds: 9 } }),
  () => ({ metadata: { deletionTimestamp: "2021-01-01T00:00:00Z" } }),
  () => ({ metadata: { labels: { b: "2" } } }),
  () => ({ metadata: { annotations: { b: "2" }, finalizers: [], ownerReferences: [owner()] } }),
  () => ({ metadata: { generation: 9 } }),
];
const budgets = "/apis/policy/v1/namespaces/<ns>/poddisruptionbudgets";
const conditions: readonly JsonObject[] = [
  {},
  { type: "T" },
  { type: "-", status: "x" },
  { type: "T", status: "True", reason: "a b", lastTransitionTime: "2020-01-01T00:00:00Z" },
  { type: "T", status: "True", reason: "R", lastTransitionTime: null, observedGeneration: -1 },
  { type: "T", status: "Unknown", reason: "R", lastTransitionTime: "2020-01-01T00:00:00Z", message: "m" },
  { type: "T", status: "True", reason: "R", lastTransitionTime: "yesterday" },
  { type: "T", status: "True", reason: "R", lastTransitionTime: "2020-01-01T00:00:00Z", bogus: 1 },
];
const ofConditions: readonly Case[] = conditions.map((condition) => ({
  name: `a condition of ${JSON.stringify(condition)}`,
  steps: [
    post(budgets, object("policy/v1", "PodDisruptionBudget", "a", { spec: { minAvailable: 1 } })),
    patch(`${budgets}/a/status`, { status: { conditions: [condition] } }),
    post(servicesIn, service("a")),
    patch(`${servicesIn}/a/status`, { status: { conditions: [condition] } }),
  ],
}));
const throughStatus: readonly Case[] = byStatus.flatMap(({ path, first, spec }) =>
  ["/status", ""].flatMap((subresource) =>
    [false, true].map((deleted) => ({
      name: `of ${path}, ${deleted ? "deleted and held" : "alive"}, changed through ${subresource || "the object"}`,
      steps: [
        post(path, first({ labels: { a: "1" }, finalizers: ["e.x/a"] })),
        ...(deleted ? [del(`${path}/a`)] : []),
        ...changesByStatus.flatMap((change) => [
          patch(`${path}/a${subresource}?fieldManager=other`, change(spec)),
          get(`${path}/a`),
        ]),
        patch(
          `${path}/a${subresource}?fieldManager=third`,
          { spec },
          path === widgetsIn ? "merge-patch" : "strategic-merge-patch",
        ),
        named("read", get(`${path}/a`)),
        put(
          `${path}/a${subresource}?fieldManager=fifth`,
          first({ resourceVersion: "<read.metadata.resourceVersion>" }),
        ),
        get(`${path}/a`),
      ],
    })),
  ),
);

export const metadata: readonly Case[] = [
  ...throughStatus,
  ...ofConditions,
  ...ruled.flatMap(({ path, apiVersion, kind, more }) =>
    names.map((name) => ({
      name: `${kind} called ${shortened(JSON.stringify(name))}`,
      steps: [post(path, object(apiVersion, kind, name, more))],
    })),
  ),
  ...services,
  ...metadatas.flatMap((one): Case[] => [
    { name: `of a ConfigMap: ${said(one)}`, steps: [post(configMapsIn, configMap("a", {}, one))] },
    { name: `of a Widget: ${said(one)}`, steps: [post(widgetsIn, widget("a", undefined, one))] },
  ]),
  ...generate,
  ...updates.flatMap((change): Case[] => [
    {
      name: `a ConfigMap's becomes ${said(change)}`,
      steps: updated(
        configMapsIn,
        configMap("a", {}, { labels: { a: "1" }, annotations: { a: "1" } }),
        change,
      ),
    },
    {
      name: `a Widget's becomes ${said(change)}`,
      steps: updated(
        widgetsIn,
        widget("a", undefined, { labels: { a: "1" }, annotations: { a: "1" } }),
        change,
      ),
    },
  ]),
  {
    name: "cluster-scoped objects have no namespace",
    steps: [
      post(gadgetsAt, object("example.com/v1", "Gadget", "<id>", {}, { namespace: "<ns>" })),
      post("/api/v1/nodes", object("v1", "Node", "<id>", {}, { namespace: "<ns>" })),
    ],
  },
  {
    name: "a name in the URL is the object's",
    steps: [
      named("made", post(configMapsIn, configMap("a"))),
      put(`${configMapsIn}/a`, { apiVersion: "v1", kind: "ConfigMap", metadata: {} }),
      put(`${configMapsIn}/a`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } }),
      put(`${configMapsIn}/a`, configMap("a", {}, { namespace: "default" })),
      put(`${configMapsIn}/a`, {}),
      put(`${configMapsIn}/A_b`, configMap("A_b")),
    ],
  },
];
