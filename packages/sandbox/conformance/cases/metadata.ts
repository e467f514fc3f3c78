// Valid and invalid names, labels, annotations, owners and finalizers, on create and on update.
import type { JsonObject } from "../../src/json.ts";
import { configMap, configMapsIn, gadget, gadgetsAt, widget, widgetsIn } from "../fixtures.ts";
import { mapsAndWidgets } from "../places.ts";
import { caseOf, del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case } from "../steps.ts";

const names = [
  ...`a A a_b -a a- a.b a..b .a 1 ä a/b a%b a:b {} __proto__`.split(/\s+/),
  "",
  "a b",
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
/** A kind for each rule of names. */
const ruled = [
  at(configMapsIn, "v1", "ConfigMap"),
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
  {
    labels: { "a b": "x", ok: "no spaces please" },
    annotations: { "/x": "" },
    finalizers: ["not/a/name"],
    ownerReferences: [owner({ uid: "" })],
  },
  { bogus: { a: [1] } },
  { Name: "upper" },
];

const titleOf = (metadata: JsonObject): string => shortened(JSON.stringify(metadata));

const generate: readonly Case[] = [
  "gen-",
  "gen",
  "Gen-",
  "g_",
  "x".repeat(62),
  "x".repeat(250),
  "-",
  "a.",
].map((generateName) =>
  caseOf(
    `generateName ${shortened(generateName)}`,
    ...mapsAndWidgets.map(({ path, of }) => post(path, { ...of(""), metadata: { generateName } })),
  ),
);

/** Changes of metadata by an update. Each is a patch of an object with a label and an annotation. */
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

/** Changes of other fields in a write of the status, for objects that are being deleted and others. */
const deletion = { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 };
const larger = { spec: { size: 2 } };
const changesByStatus: readonly JsonObject[] = [
  larger,
  { ...larger, status: { conditions: [{ type: "T", status: "True" }] } },
  { metadata: deletion },
  { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null } },
  { metadata: { deletionGracePeriodSeconds: 9 } },
  { metadata: { labels: { b: "2" } } },
  { metadata: { annotations: { b: "2" }, finalizers: [], ownerReferences: [owner()] } },
  { metadata: { generation: 9 } },
];
const throughStatus: readonly Case[] = ["/status", ""].flatMap((subresource) =>
  [false, true].map((deleted) => {
    const at = `${widgetsIn}/a${subresource}`;
    return caseOf(
      `of ${widgetsIn}, ${deleted ? "deleted and held" : "alive"}, changed through ${subresource || "the object"}`,
      post(widgetsIn, widget("a", undefined, { labels: { a: "1" }, finalizers: ["e.x/a"] })),
      ...(deleted ? [del(`${widgetsIn}/a`)] : []),
      ...changesByStatus.flatMap((change) => [
        patch(`${at}?fieldManager=other`, change),
        get(`${widgetsIn}/a`),
      ]),
      patch(`${at}?fieldManager=third`, larger),
      named("read", get(`${widgetsIn}/a`)),
      put(
        `${at}?fieldManager=fifth`,
        widget("a", undefined, { resourceVersion: "<read.metadata.resourceVersion>" }),
      ),
      get(`${widgetsIn}/a`),
    );
  }),
);

export const metadata: readonly Case[] = [
  ...throughStatus,
  ...ruled.flatMap(({ path, apiVersion, kind, more }) =>
    names.map((name) =>
      caseOf(
        `${kind} called ${shortened(JSON.stringify(name))}`,
        post(path, object(apiVersion, kind, name, more)),
      ),
    ),
  ),
  ...mapsAndWidgets.flatMap(({ kind, path, of }) => [
    ...metadatas.map((one) => caseOf(`of a ${kind}: ${titleOf(one)}`, post(path, of("a", one)))),
    ...updates.map((change) =>
      caseOf(
        `a ${kind}'s becomes ${titleOf(change)}`,
        named("made", post(path, of("a", { labels: { a: "1" }, annotations: { a: "1" } }))),
        patch(`${path}/a`, { metadata: change }),
        get(`${path}/a`),
      ),
    ),
  ]),
  ...generate,
  caseOf("cluster-scoped objects have no namespace", post(gadgetsAt, gadget("<id>", { namespace: "<ns>" }))),
  caseOf(
    "a name in the URL is the object's",
    named("made", post(configMapsIn, configMap("a"))),
    put(`${configMapsIn}/a`, { apiVersion: "v1", kind: "ConfigMap", metadata: {} }),
    put(`${configMapsIn}/a`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } }),
    put(`${configMapsIn}/a`, configMap("a", {}, { namespace: "default" })),
    put(`${configMapsIn}/a`, {}),
    put(`${configMapsIn}/A_b`, configMap("A_b")),
  ),
];
