// The table of kinds that are there without a CustomResourceDefinition. A new kind is a row, not code.
import { definitionBehaviour } from "./custom-resources.ts";
import { isString, objectAt } from "./json.ts";
import { withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { namespaceBehaviour } from "./namespaces.ts";
import { anyObject, anything, boolean, fields, integer, listOf, mapOf, string } from "./resource-type.ts";
import type { Column, ResourceType } from "./resource-type.ts";

/** What rows may leave out. */
type Row = Partial<ResourceType> & Pick<ResourceType, "kind" | "resource" | "schema">;

const column = (name: string, jsonPath: string, type = "string"): Column => ({ name, type, jsonPath });
const age = column("Age", ".metadata.creationTimestamp", "date");
const bytes = { type: "string", format: "byte" };
const unconditional = { unconditionalUpdate: true };

/** `stringData` is for writing only: it ends up in `data`. */
function encodedSecret(secret: KubeObject): KubeObject {
  const plain = Object.entries(objectAt(secret, "stringData"));
  if (plain.length === 0) return withTop(secret, "stringData", undefined);
  const encoded = plain.map(
    ([key, value]) => [key, Buffer.from(isString(value) ? value : "").toString("base64")] as const,
  );
  const data = { ...objectAt(secret, "data"), ...Object.fromEntries(encoded) };
  return withTop(withTop(secret, "stringData", undefined), "data", data);
}

const core: readonly Row[] = [
  {
    ...unconditional,
    kind: "Namespace",
    resource: "namespaces",
    namespaced: false,
    shortNames: ["ns"],
    status: true,
    nameRule: "label",
    schema: fields({ spec: fields({ finalizers: listOf(string) }), status: anyObject }),
    columns: [column("Status", ".status.phase"), age],
    selectable: ["status.phase"],
    behaviour: namespaceBehaviour,
  },
  {
    ...unconditional,
    kind: "ConfigMap",
    resource: "configmaps",
    shortNames: ["cm"],
    schema: fields({ data: mapOf(string), binaryData: mapOf(bytes), immutable: boolean }),
  },
  {
    ...unconditional,
    kind: "Secret",
    resource: "secrets",
    schema: fields({
      data: mapOf(bytes),
      stringData: mapOf(string),
      immutable: boolean,
      type: { ...string, default: "Opaque" },
    }),
    columns: [column("Type", ".type"), age],
    selectable: ["type"],
    behaviour: { completed: encodedSecret },
  },
  {
    ...unconditional,
    kind: "Event",
    resource: "events",
    shortNames: ["ev"],
    createOnUpdate: true,
    schema: fields({
      involvedObject: anyObject,
      reason: string,
      message: string,
      source: anyObject,
      firstTimestamp: { ...string, nullable: true },
      lastTimestamp: { ...string, nullable: true },
      count: integer,
      type: string,
      eventTime: { ...string, nullable: true, default: null },
      series: { ...anyObject, nullable: true },
      action: string,
      related: { ...anyObject, nullable: true },
      reportingComponent: { ...string, default: "" },
      reportingInstance: { ...string, default: "" },
    }),
    columns: [
      column("Last Seen", ".lastTimestamp", "date"),
      column("Type", ".type"),
      column("Reason", ".reason"),
      column("Kind", ".involvedObject.kind"),
      column("Object", ".involvedObject.name"),
      column("Message", ".message"),
    ],
    selectable: [
      ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
        (name) => `involvedObject.${name}`,
      ),
      ...["reason", "reportingComponent", "source", "type"],
    ],
  },
  {
    ...unconditional,
    kind: "Pod",
    resource: "pods",
    shortNames: ["po"],
    categories: ["all"],
    status: true,
    generation: true,
    returnsDeleted: true,
    schema: fields({ spec: anyObject, status: { ...anyObject, default: { phase: "Pending" } } }, ["spec"]),
    columns: [column("Status", ".status.phase"), age],
    selectable: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.serviceAccountName",
      "status.phase",
      "status.podIP",
    ],
  },
  {
    ...unconditional,
    kind: "Service",
    resource: "services",
    shortNames: ["svc"],
    categories: ["all"],
    status: true,
    createOnUpdate: true,
    returnsDeleted: true,
    nameRule: "service",
    schema: fields({ spec: anyObject, status: { ...anyObject, default: { loadBalancer: {} } } }),
    columns: [column("Type", ".spec.type"), column("Cluster-IP", ".spec.clusterIP"), age],
    selectable: ["spec.clusterIP", "spec.type"],
  },
  {
    ...unconditional,
    kind: "ServiceAccount",
    resource: "serviceaccounts",
    shortNames: ["sa"],
    returnsDeleted: true,
    schema: fields({
      secrets: listOf(anyObject),
      imagePullSecrets: listOf(anyObject),
      automountServiceAccountToken: boolean,
    }),
  },
];

/** The same objects as v1 Events under the newer names: one bucket, as in a real API server. */
const newerEvents: Row = {
  ...unconditional,
  kind: "Event",
  resource: "events",
  shortNames: ["ev"],
  createOnUpdate: true,
  bucket: "events",
  schema: fields({
    eventTime: { ...string, nullable: true, default: null },
    series: { ...anyObject, nullable: true },
    reportingController: { ...string, default: "" },
    reportingInstance: { ...string, default: "" },
    action: string,
    reason: string,
    regarding: anyObject,
    related: { ...anyObject, nullable: true },
    note: string,
    type: string,
    deprecatedSource: anyObject,
    deprecatedFirstTimestamp: { ...string, nullable: true },
    deprecatedLastTimestamp: { ...string, nullable: true },
    deprecatedCount: integer,
  }),
  renames: [
    ["regarding", "involvedObject"],
    ["note", "message"],
    ["reportingController", "reportingComponent"],
    ["deprecatedSource", "source"],
    ["deprecatedFirstTimestamp", "firstTimestamp"],
    ["deprecatedLastTimestamp", "lastTimestamp"],
    ["deprecatedCount", "count"],
  ],
  columns: [column("Type", ".type"), column("Reason", ".reason"), column("Note", ".note"), age],
  selectable: ["reason", "reportingController", "type"],
};

const lease: Row = {
  kind: "Lease",
  resource: "leases",
  createOnUpdate: true,
  schema: fields({
    spec: fields({
      holderIdentity: string,
      leaseDurationSeconds: { ...integer, minimum: 1 },
      acquireTime: string,
      renewTime: string,
      leaseTransitions: { ...integer, minimum: 0 },
      strategy: string,
      preferredHolder: string,
    }),
  }),
  columns: [column("Holder", ".spec.holderIdentity"), age],
};

const customResourceDefinition: Row = {
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  namespaced: false,
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  status: true,
  generation: true,
  returnsDeleted: true,
  schema: fields({ spec: anyObject, status: anyObject }, ["spec"]),
  behaviour: definitionBehaviour,
  columns: [{ ...age, name: "Created At", type: "string" }],
};

const rules = listOf(
  fields(
    {
      apiGroups: listOf(string),
      resources: listOf(string),
      resourceNames: listOf(string),
      nonResourceURLs: listOf(string),
      verbs: listOf(string),
    },
    ["verbs"],
  ),
);
const role = { ...unconditional, createOnUpdate: true, nameRule: "path" } as const;
const binding = {
  ...role,
  schema: fields({ subjects: listOf(anyObject), roleRef: anyObject }, ["roleRef"]),
  columns: [column("Role", ".roleRef.name"), age],
};
const rbac: readonly Row[] = [
  { ...role, kind: "Role", resource: "roles", schema: fields({ rules }) },
  { ...binding, kind: "RoleBinding", resource: "rolebindings" },
  {
    ...role,
    kind: "ClusterRole",
    resource: "clusterroles",
    namespaced: false,
    schema: fields({ rules, aggregationRule: anything }),
  },
  { ...binding, kind: "ClusterRoleBinding", resource: "clusterrolebindings", namespaced: false },
];

const served = (group: string, rows: readonly Row[]): ResourceType[] =>
  rows.map((row) => ({
    group,
    version: "v1",
    singular: row.kind.toLowerCase(),
    listKind: `${row.kind}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    bucket: group === "" ? row.resource : `${row.resource}.${group}`,
    custom: false,
    status: false,
    generation: false,
    unconditionalUpdate: false,
    createOnUpdate: false,
    returnsDeleted: false,
    nameRule: "subdomain",
    columns: [age],
    selectable: [],
    renames: [],
    behaviour: {},
    ...row,
  }));

/** The kinds that every sandbox serves. */
export const builtInTypes: readonly ResourceType[] = [
  ...served("", core),
  ...served("events.k8s.io", [newerEvents]),
  ...served("coordination.k8s.io", [lease]),
  ...served("apiextensions.k8s.io", [customResourceDefinition]),
  ...served("rbac.authorization.k8s.io", rbac),
];
