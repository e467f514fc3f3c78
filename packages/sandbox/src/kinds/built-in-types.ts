// The table of the kinds that need no CustomResourceDefinition: those that the demo, the testing kit and the tests of
// the bridge make. All others are tested on a real API server.
import { definitionBehaviour, definitionSchema } from "../definitions/custom-resources.ts";
import { invalid, when } from "../admission/field-errors.ts";
import { equal, field } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { configMapBehaviour, secretBehaviour } from "./key-value-kinds.ts";
import { namespaceBehaviour } from "./namespaces.ts";
import { podBehaviour, podSchema } from "./pods.ts";
import { plainType } from "./resource-type.ts";
import type { Behaviour, ResourceType } from "./resource-type.ts";
import {
  alwaysPresent,
  anyObject,
  boolean,
  each,
  fields,
  integer,
  openObject,
  listOf,
} from "../schema/schema-builders.ts";
import { mapOf, withDefault, string, strings } from "../schema/schema-builders.ts";
import { serviceBehaviour, serviceSchema } from "./services.ts";
import { deploymentBehaviour, deploymentSchema, replicaSetBehaviour, replicaSetSchema } from "./workloads.ts";

/** A row of the table. A field that has the same value for most kinds may be left out. */
type Row = Partial<ResourceType> & Pick<ResourceType, "kind" | "resource" | "schema">;

const bytes = { type: "string", format: "byte" };
/** A spec and a status that the sandbox stores without checks. */
const stored: JsonObject = fields({ spec: alwaysPresent(anyObject), status: anyObject });
const unconditionalUpdate = true;
const returnsDeleted = true;
const namespaced = false;
const generation = true;
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
      spec: alwaysPresent(fields({ finalizers: listOf(string) })),
      status: alwaysPresent(openObject({ phase: withDefault(string, "Active") })),
    }),
    nameRule: "label",
    behaviour: namespaceBehaviour,
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
      type: withDefault(string, "Opaque"),
    }),
    behaviour: secretBehaviour,
    selectable: ["type"],
  },
  {
    kind: "Pod",
    resource: "pods",
    shortNames: ["po"],
    categories: ["all"],
    generation,
    status,
    unconditionalUpdate,
    returnsDeleted,
    schema: podSchema,
    behaviour: podBehaviour,
    selectable: ["spec.nodeName", "status.phase"],
  },
  {
    kind: "Service",
    resource: "services",
    shortNames: ["svc"],
    categories: ["all"],
    nameRule: "label",
    status,
    unconditionalUpdate,
    returnsDeleted,
    schema: serviceSchema,
    behaviour: serviceBehaviour,
  },
  {
    kind: "ServiceAccount",
    resource: "serviceaccounts",
    shortNames: ["sa"],
    unconditionalUpdate,
    returnsDeleted,
    schema: fields({
      ...each("secrets imagePullSecrets", listOf(anyObject)),
      automountServiceAccountToken: boolean,
    }),
  },
  {
    kind: "Node",
    resource: "nodes",
    shortNames: ["no"],
    namespaced,
    status,
    unconditionalUpdate,
    schema: stored,
  },
];

const workloads: readonly Row[] = [
  {
    kind: "Deployment",
    resource: "deployments",
    shortNames: ["deploy"],
    categories: ["all"],
    generation,
    status,
    unconditionalUpdate,
    schema: deploymentSchema,
    behaviour: deploymentBehaviour,
  },
  {
    kind: "ReplicaSet",
    resource: "replicasets",
    shortNames: ["rs"],
    categories: ["all"],
    generation,
    status,
    unconditionalUpdate,
    schema: replicaSetSchema,
    behaviour: replicaSetBehaviour,
  },
];

const times = "eventTime firstTimestamp lastTimestamp";
const event = { kind: "Event", resource: "events", shortNames: ["ev"], unconditionalUpdate };
/** Events as `kubectl describe` reads them. */
const coreEvent: Row = {
  ...event,
  schema: fields({
    ...strings(`reason message type action reportingComponent reportingInstance ${times}`),
    ...each("related series involvedObject source", anyObject),
    count: integer,
  }),
  selectable: [
    ...["kind", "namespace", "name", "uid"].map((one) => `involvedObject.${one}`),
    ...["reason", "type"],
  ],
};
/** The same objects under newer names: they share a bucket, as in a real API server. */
const newEvent: Row = {
  ...event,
  bucket: "events",
  schema: fields({
    ...strings("reason note type action reportingController reportingInstance eventTime"),
    ...strings("deprecatedFirstTimestamp deprecatedLastTimestamp"),
    ...each("related series regarding deprecatedSource", anyObject),
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
  selectable: ["reason", "reportingController", "type"],
};

const networkPolicy: Row = {
  kind: "NetworkPolicy",
  resource: "networkpolicies",
  shortNames: ["netpol"],
  generation,
  unconditionalUpdate,
  schema: stored,
};

const lease: Row = {
  kind: "Lease",
  resource: "leases",
  schema: fields({
    spec: alwaysPresent(
      fields({
        ...strings("holderIdentity acquireTime renewTime strategy preferredHolder"),
        ...each("leaseDurationSeconds leaseTransitions", integer),
      }),
    ),
  }),
};

const definition: Row = {
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced,
  status,
  generation,
  returnsDeleted,
  schema: definitionSchema,
  behaviour: definitionBehaviour,
};

const roleSchema = fields({ rules: withDefault(listOf(anyObject), null), aggregationRule: anyObject });
const bindingBehaviour: Behaviour = {
  errors: (binding, old) => {
    const role = field(binding, "roleRef");
    const isChanged = old !== undefined && !equal(field(old, "roleRef"), role);
    return when(isChanged, invalid("roleRef", role, "cannot change roleRef"));
  },
};
const binding = {
  unconditionalUpdate,
  nameRule: "path",
  schema: fields({ subjects: listOf(anyObject), roleRef: anyObject }),
  behaviour: bindingBehaviour,
} as const;
const role = { unconditionalUpdate, nameRule: "path", schema: roleSchema } as const;
const rbac: readonly Row[] = [
  { ...role, kind: "Role", resource: "roles" },
  { ...role, kind: "ClusterRole", resource: "clusterroles", namespaced },
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
  ...served("", [...core, coreEvent]),
  // In the order in which a real server prefers them.
  ...served("apps", workloads),
  ...served("events.k8s.io", [newEvent]),
  ...served("networking.k8s.io", [networkPolicy]),
  ...served("rbac.authorization.k8s.io", rbac),
  ...served("apiextensions.k8s.io", [definition]),
  ...served("coordination.k8s.io", [lease]),
];
