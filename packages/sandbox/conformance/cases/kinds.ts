// Each built-in kind through the same life: what is stored of the least object, and what each verb says of it.
import { objectAt, textAt } from "../../src/json.ts";
import type { JsonObject } from "../../src/json.ts";
import { del, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";

interface Kind {
  readonly path: string;
  readonly object: JsonObject;
  /** The same with something else in it. */
  readonly other: JsonObject;
  readonly status?: JsonObject;
}

const container = { name: "main", image: "image" };
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [container] } };
const selector = { matchLabels: { app: "a" } };
const inNamespace = (group: string, resource: string): string =>
  `/${group === "" ? "api/v1" : `apis/${group}`}/namespaces/<ns>/${resource}`;
const kind = (
  path: string,
  apiVersion: string,
  named: string,
  first: JsonObject,
  second: JsonObject = first,
  status?: JsonObject,
): Kind => ({
  path,
  object: object(apiVersion, named, "<id>", first),
  other: object(apiVersion, named, "<id>", second, { labels: { changed: "yes" } }),
  ...(status && { status }),
});
const core = (
  resource: string,
  named: string,
  first: JsonObject,
  second?: JsonObject,
  status?: JsonObject,
): Kind => kind(inNamespace("", resource), "v1", named, first, second, status);
const rbac = "rbac.authorization.k8s.io/v1";
const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };

const kindsOf: readonly Kind[] = [
  core("configmaps", "ConfigMap", { data: { a: "1" } }, { data: { a: "2" }, binaryData: { b: "AAE=" } }),
  core("secrets", "Secret", { stringData: { a: "1" } }, { data: { a: "Mg==" }, stringData: { b: "2" } }),
  core("serviceaccounts", "ServiceAccount", {}, { automountServiceAccountToken: false }),
  core(
    "events",
    "Event",
    { involvedObject: { kind: "Pod", namespace: "<ns>", name: "p" } },
    { message: "m", involvedObject: { namespace: "<ns>" } },
  ),
  core(
    "pods",
    "Pod",
    { spec: { containers: [container] } },
    { spec: { containers: [{ ...container, image: "other" }] } },
    { phase: "Running" },
  ),
  core(
    "services",
    "Service",
    { spec: { ports: [{ port: 80 }], selector: { app: "a" } } },
    { spec: { ports: [{ port: 80 }, { port: 443, name: "s" }] } },
    { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
  ),
  kind("/api/v1/namespaces", "v1", "Namespace", {}, {}, { phase: "Terminating" }),
  kind(
    "/api/v1/nodes",
    "v1",
    "Node",
    {},
    { spec: { unschedulable: true } },
    { nodeInfo: { kubeletVersion: "v1" } },
  ),
  kind(
    inNamespace("apps/v1", "deployments"),
    "apps/v1",
    "Deployment",
    { spec: { selector, template } },
    { spec: { replicas: 3, selector, template } },
    { replicas: 1, observedGeneration: 1 },
  ),
  kind(
    inNamespace("apps/v1", "replicasets"),
    "apps/v1",
    "ReplicaSet",
    { spec: { selector, template } },
    { spec: { replicas: 0, selector, template } },
    { replicas: 1 },
  ),
  kind(
    inNamespace("apps/v1", "statefulsets"),
    "apps/v1",
    "StatefulSet",
    { spec: { selector, template, serviceName: "s" } },
    { spec: { replicas: 2, selector, template, serviceName: "s", updateStrategy: { type: "OnDelete" } } },
    { replicas: 1 },
  ),
  kind(
    inNamespace("apps/v1", "controllerrevisions"),
    "apps/v1",
    "ControllerRevision",
    { revision: 1, data: { a: 1 } },
    { revision: 2, data: { a: 1 } },
  ),
  kind(
    inNamespace("coordination.k8s.io/v1", "leases"),
    "coordination.k8s.io/v1",
    "Lease",
    {},
    { spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" } },
  ),
  kind(inNamespace("events.k8s.io/v1", "events"), "events.k8s.io/v1", "Event", {
    eventTime: "2020-01-01T00:00:00.000000Z",
    reportingController: "example.com/c",
    reportingInstance: "i",
    action: "Act",
    reason: "Because",
    type: "Normal",
    regarding: { kind: "Pod", namespace: "<ns>", name: "p" },
  }),
  kind(inNamespace(rbac, "roles"), rbac, "Role", {}, { rules }),
  kind(
    `/apis/${rbac}/clusterroles`,
    rbac,
    "ClusterRole",
    { rules },
    { rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { none: "here" } }] } },
  ),
  kind(
    inNamespace(rbac, "rolebindings"),
    rbac,
    "RoleBinding",
    { roleRef },
    {
      roleRef,
      subjects: [
        { kind: "User", name: "u" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
    },
  ),
  kind(
    `/apis/${rbac}/clusterrolebindings`,
    rbac,
    "ClusterRoleBinding",
    { roleRef },
    { roleRef, subjects: [{ kind: "Group", name: "g" }] },
  ),
  kind(
    inNamespace("networking.k8s.io/v1", "networkpolicies"),
    "networking.k8s.io/v1",
    "NetworkPolicy",
    { spec: { podSelector: {} } },
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
  ),
  kind(
    inNamespace("policy/v1", "poddisruptionbudgets"),
    "policy/v1",
    "PodDisruptionBudget",
    { spec: { minAvailable: 1, selector } },
    { spec: { minAvailable: "50%", selector } },
    { observedGeneration: 1, currentHealthy: 0, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 0 },
  ),
];

const withVersion = (body: JsonObject, resourceVersion: string): JsonObject => ({
  ...body,
  metadata: { ...objectAt(body, "metadata"), resourceVersion },
});

type Life = (name: string, ...steps: readonly Step[]) => Case;

function livesOf(kind: Kind): Case[] {
  const { path, object: first, other } = kind;
  const at = `${path}/<id>`;
  const create = named("made", post(path, first));
  const about = (textAt(first, "kind") ?? "") + (path.includes("events.k8s.io") ? " (new)" : "");
  const life: Life = (name, ...steps) => ({ name: `${about}: ${name}`, steps });
  return [
    life("is created, read and created again", create, get(at), post(path, first)),
    life(
      "is replaced without a version, and where there is none",
      put(at, first),
      create,
      put(at, other),
      get(at),
    ),
    life(
      "is replaced at its version, at an old one, at a wrong uid",
      create,
      put(at, withVersion(other, "<made.metadata.resourceVersion>")),
      put(at, withVersion(first, "<made.metadata.resourceVersion>")),
      put(at, { ...other, metadata: { name: "<id>", uid: "00000000-0000-0000-0000-000000000000" } }),
      put(at, { ...other, metadata: { name: "another" } }),
    ),
    life(
      "is replaced by itself, and by a dry run",
      create,
      put(at, withVersion(first, "<made.metadata.resourceVersion>")),
      put(`${at}?dryRun=All`, withVersion(other, "<made.metadata.resourceVersion>")),
      get(at),
    ),
    life(
      "is patched",
      create,
      patch(at, { metadata: { labels: { a: "b" } } }),
      patch(at, { metadata: { labels: { a: null } } }),
      patch(at, {}),
    ),
    ...moreOf(kind, life),
  ];
}

function moreOf({ path, object: first, status }: Kind, life: Life): Case[] {
  const at = `${path}/<id>`;
  const create = named("made", post(path, first));
  return [
    life(
      "is deleted while a finalizer holds it, then not",
      post(path, { ...first, metadata: { name: "<id>", finalizers: ["example.com/hold"] } }),
      del(at),
      del(at),
      get(at),
      patch(at, { metadata: { finalizers: null } }),
      get(at),
    ),
    life(
      "is changed, and its metadata is wrong",
      create,
      patch(at, { metadata: { finalizers: ["orphan", "foregroundDeletion"] } }),
      patch(at, { metadata: { labels: { "a b": "c d" }, ownerReferences: [{ kind: "Event" }] } }),
      patch(`${at}/status`, { metadata: { annotations: { "a b": "c" } } }),
    ),
    life("is deleted, and deleted again", create, del(at), del(at), get(at)),
    life("is created by a dry run", post(`${path}?dryRun=All`, first), get(at)),
    life(
      "has a status",
      create,
      put(`${at}/status`, { ...first, status: status ?? {} }),
      patch(`${at}/status`, { status: status ?? {} }),
      get(`${at}/status`),
      get(at),
    ),
    life(
      "knows its fields",
      post(`${path}?fieldValidation=Strict`, { ...first, bogus: 1 }),
      post(`${path}?fieldValidation=Warn`, { ...first, bogus: 1 }),
    ),
    life(
      "takes no wrong type",
      post(path, { ...first, metadata: { name: 1 } }),
      post(path, { ...first, metadata: "x" }),
      post(path, { ...first, kind: "Other" }),
      post(path, { ...first, apiVersion: "v9" }),
    ),
    life(
      "is a table, and only its metadata",
      create,
      get(at, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }),
      get(at, { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" }),
    ),
  ];
}

export const kinds: readonly Case[] = kindsOf.flatMap(livesOf);
