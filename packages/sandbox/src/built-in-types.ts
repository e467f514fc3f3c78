// The table of kinds that are there without a CustomResourceDefinition. A new kind is a row, not code.
import { definitionBehaviour, definitionSchema } from "./custom-resources.ts";
import { configMapBehaviour, secretBehaviour } from "./key-value-kinds.ts";
import { namespaceBehaviour } from "./namespaces.ts";
import { podSpecSchema, podStatusSchema } from "./pod-schema.ts";
import { podBehaviour } from "./pods.ts";
import { ageColumn, plainType } from "./resource-type.ts";
import type { Column, ResourceType } from "./resource-type.ts";
import {
  always,
  anyObject,
  apiCondition,
  atomic,
  boolean,
  each,
  fields,
  integer,
  intOrString,
  knowing,
  labelSelector,
  listBy,
  listOf,
  mapOf,
  omitted,
  or,
  string,
  strings,
  struct,
} from "./schema-words.ts";
import { serviceBehaviour, serviceSchema } from "./services.ts";
import {
  bindingBehaviour,
  disruptionBudgetBehaviour,
  leaseBehaviour,
  networkPolicyBehaviour,
  nodeBehaviour,
  nodeSchema,
  policyPort,
} from "./small-kinds.ts";
import { podColumns, serviceColumns } from "./workload-columns.ts";
import { workloads } from "./workload-types.ts";
import { conditions } from "./workloads.ts";

/** What rows may leave out. */
type Row = Partial<ResourceType> & Pick<ResourceType, "kind" | "resource" | "schema">;

const column = (name: string, jsonPath: string, type = "string"): Column => ({ name, type, jsonPath });
const bytes = { type: "string", format: "byte" };
const whenever = or(string, null);
const unconditionalUpdate = true;
const createOnUpdate = true;
const returnsDeleted = true;
const namespaced = false;
const status = true;

const core: readonly Row[] = [
  {
    kind: "Namespace",
    resource: "namespaces",
    shortNames: ["ns"],
    namespaced,
    status,
    unconditionalUpdate,
    returnsDeleted,
    schema: fields({
      spec: always(fields({ finalizers: listOf(string) })),
      status: always(knowing({ phase: or(string, "Active"), conditions: conditions("lastTransitionTime") })),
    }),
    nameRule: "label",
    behaviour: namespaceBehaviour,
    columns: [column("Status", ".status.phase"), ageColumn],
    selectable: ["status.phase"],
  },
  {
    kind: "ConfigMap",
    resource: "configmaps",
    shortNames: ["cm"],
    unconditionalUpdate,
    schema: fields({ data: mapOf(string), binaryData: mapOf(bytes), immutable: boolean }),
    behaviour: configMapBehaviour,
  },
  {
    kind: "Secret",
    resource: "secrets",
    unconditionalUpdate,
    schema: fields({
      data: mapOf(bytes),
      stringData: mapOf(string),
      immutable: boolean,
      type: or(string, "Opaque"),
    }),
    behaviour: secretBehaviour,
    columns: [column("Type", ".type"), ageColumn],
    selectable: ["type"],
  },
  {
    kind: "Event",
    resource: "events",
    shortNames: ["ev"],
    unconditionalUpdate,
    createOnUpdate,
    schema: fields({
      ...strings("reason message type action"),
      ...each("eventTime firstTimestamp lastTimestamp", whenever),
      ...each("reportingComponent reportingInstance", or(string, "")),
      related: atomic(anyObject),
      series: anyObject,
      involvedObject: always(atomic(anyObject)),
      source: always(anyObject),
      count: integer,
    }),
    behaviour: { leavesMetadata: "all" },
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
        (one) => `involvedObject.${one}`,
      ),
      ...["reason", "reportingComponent", "source", "type"],
    ],
  },
  {
    kind: "Pod",
    resource: "pods",
    shortNames: ["po"],
    categories: ["all"],
    generation: true,
    status,
    unconditionalUpdate,
    returnsDeleted,
    schema: fields({ spec: always(podSpecSchema), status: or(podStatusSchema, {}) }),
    behaviour: podBehaviour,
    columns: podColumns,
    selectable: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.serviceAccountName",
      "spec.schedulerName",
      "spec.hostNetwork",
      "status.nominatedNodeName",
      "status.phase",
      "status.podIP",
    ],
  },
  {
    kind: "Service",
    resource: "services",
    shortNames: ["svc"],
    categories: ["all"],
    nameRule: "label",
    status,
    unconditionalUpdate,
    createOnUpdate,
    returnsDeleted,
    schema: serviceSchema,
    behaviour: serviceBehaviour,
    columns: serviceColumns,
    selectable: ["spec.clusterIP", "spec.type"],
  },
  {
    kind: "ServiceAccount",
    resource: "serviceaccounts",
    shortNames: ["sa"],
    unconditionalUpdate,
    returnsDeleted,
    schema: fields({
      secrets: listBy("name", atomic(anyObject)),
      imagePullSecrets: listOf(anyObject),
      automountServiceAccountToken: boolean,
    }),
  },
];

const node: Row = {
  kind: "Node",
  resource: "nodes",
  shortNames: ["no"],
  namespaced,
  status,
  unconditionalUpdate,
  schema: nodeSchema,
  behaviour: nodeBehaviour,
  columns: [
    column("Status", '.status.conditions[?(@.type=="Ready")].reason'),
    ageColumn,
    column("Version", ".status.nodeInfo.kubeletVersion"),
  ],
  selectable: ["spec.unschedulable"],
};

const networkPolicy: Row = {
  kind: "NetworkPolicy",
  resource: "networkpolicies",
  shortNames: ["netpol"],
  generation: true,
  unconditionalUpdate,
  schema: fields({
    spec: always(
      fields({
        podSelector: always(labelSelector),
        policyTypes: listOf(string),
        ingress: listOf(fields({ ports: listOf(policyPort), from: listOf(anyObject) })),
        egress: listOf(fields({ ports: listOf(policyPort), to: listOf(anyObject) })),
      }),
    ),
  }),
  behaviour: networkPolicyBehaviour,
};

const disruptionBudget: Row = {
  kind: "PodDisruptionBudget",
  resource: "poddisruptionbudgets",
  shortNames: ["pdb"],
  generation: true,
  status,
  schema: fields({
    spec: always(
      fields({
        minAvailable: intOrString,
        maxUnavailable: intOrString,
        selector: labelSelector,
        unhealthyPodEvictionPolicy: string,
      }),
    ),
    status: always(
      fields({
        ...each("disruptionsAllowed currentHealthy desiredHealthy expectedPods", or(integer, 0)),
        observedGeneration: omitted(integer),
        disruptedPods: mapOf(string),
        conditions: listBy("type", apiCondition),
      }),
    ),
  }),
  behaviour: disruptionBudgetBehaviour,
  columns: [
    column("Min Available", ".spec.minAvailable"),
    column("Max Unavailable", ".spec.maxUnavailable"),
    column("Allowed Disruptions", ".status.disruptionsAllowed", "integer"),
    ageColumn,
  ],
};

/** The same objects as v1 Events under the newer names: one bucket, as in a real API server. */
const events: Row = {
  kind: "Event",
  resource: "events",
  shortNames: ["ev"],
  bucket: "events",
  unconditionalUpdate,
  createOnUpdate,
  schema: fields({
    ...strings("reason note type action reportingController reportingInstance"),
    ...each("eventTime deprecatedFirstTimestamp deprecatedLastTimestamp", whenever),
    related: atomic(anyObject),
    series: anyObject,
    regarding: always(atomic(anyObject)),
    deprecatedSource: always(anyObject),
    deprecatedCount: integer,
  }),
  behaviour: { leavesMetadata: "whole" },
  renames: [
    ["regarding", "involvedObject"],
    ["note", "message"],
    ["reportingController", "reportingComponent"],
    ["deprecatedSource", "source"],
    ["deprecatedFirstTimestamp", "firstTimestamp"],
    ["deprecatedLastTimestamp", "lastTimestamp"],
    ["deprecatedCount", "count"],
  ],
  columns: [column("Type", ".type"), column("Reason", ".reason"), column("Note", ".note"), ageColumn],
  selectable: ["reason", "reportingController", "type"],
};

const lease: Row = {
  kind: "Lease",
  resource: "leases",
  createOnUpdate,
  schema: fields({
    spec: always(
      fields({
        ...strings("holderIdentity acquireTime renewTime strategy preferredHolder"),
        leaseDurationSeconds: integer,
        leaseTransitions: integer,
      }),
    ),
  }),
  behaviour: leaseBehaviour,
  columns: [column("Holder", ".spec.holderIdentity"), ageColumn],
};

const definition: Row = {
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced,
  status,
  generation: true,
  returnsDeleted,
  // The real server still stores them in the version before.
  storedVersion: "v1beta1",
  schema: definitionSchema,
  behaviour: definitionBehaviour,
  columns: [column("Created At", ".metadata.creationTimestamp")],
};

const rules = or(
  listOf(fields(each("apiGroups resources resourceNames nonResourceURLs verbs", listOf(string)), ["verbs"])),
  null,
);
const access = { unconditionalUpdate, createOnUpdate, nameRule: "path" } as const;
const subject = struct({ kept: "kind name", text: "apiGroup namespace" });
const binding = {
  ...access,
  schema: fields({
    subjects: listOf(subject),
    roleRef: always(atomic(struct({ kept: "kind name", text: "apiGroup" }))),
  }),
  behaviour: bindingBehaviour,
  columns: [column("Role", ".roleRef.name"), ageColumn],
};
const rbac: readonly Row[] = [
  { ...access, kind: "Role", resource: "roles", schema: fields({ rules }) },
  {
    ...access,
    kind: "ClusterRole",
    resource: "clusterroles",
    namespaced,
    schema: fields({ rules, aggregationRule: anyObject }),
  },
  { ...binding, kind: "RoleBinding", resource: "rolebindings" },
  { ...binding, kind: "ClusterRoleBinding", resource: "clusterrolebindings", namespaced },
];

const served = (group: string, rows: readonly Row[]): ResourceType[] =>
  rows.map((row) => ({
    ...plainType,
    group,
    singular: row.kind.toLowerCase(),
    listKind: `${row.kind}List`,
    bucket: group === "" ? row.resource : `${row.resource}.${group}`,
    ...row,
  }));

/** The kinds that every sandbox serves. */
export const builtInTypes: readonly ResourceType[] = [
  ...served("", [...core, node]),
  // As a real server prefers them.
  ...served("apps", workloads),
  ...served("events.k8s.io", [events]),
  ...served("networking.k8s.io", [networkPolicy]),
  ...served("policy", [disruptionBudget]),
  ...served("rbac.authorization.k8s.io", rbac),
  ...served("apiextensions.k8s.io", [definition]),
  ...served("coordination.k8s.io", [lease]),
];
