// The kinds of apps/v1 as the API server alone has them: stored, defaulted, scaled; nothing here makes a pod.
import { invalid, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, isObject, objectAt } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { completedPodSpec, conditionsTimed, labelSelector, podTemplate } from "./pod-schema.ts";
import { ageColumn } from "./resource-type.ts";
import type { Behaviour, Column, ResourceType } from "./resource-type.ts";
import { anyObject, anyScalar, boolean, each, fields } from "./schema-words.ts";
import { integer, knowing, listOf, or, string, struct } from "./schema-words.ts";
import { labelsMatch, selectorText } from "./selectors.ts";
import { deploymentColumns, replicaSetColumns, statefulSetColumns } from "./workload-columns.ts";

const column = (name: string, jsonPath: string, type = "string"): Column => ({ name, type, jsonPath });
const selector = { selector: labelSelector, template: podTemplate };
const counts = each(
  "replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas terminatingReplicas observedGeneration",
  integer,
);
const moreCounts = each("fullyLabeledReplicas currentReplicas collisionCount", integer);
const status = (zeroes: string, times: string): JsonObject =>
  struct({
    ...counts,
    ...moreCounts,
    ...each("currentRevision updateRevision", string),
    conditions: conditionsTimed(times),
    ...(zeroes === "" ? {} : each(zeroes, or(integer, 0))),
  });
const rolling = { type: or(string, "RollingUpdate"), rollingUpdate: anyObject };

const withSpec = (object: KubeObject, more: JsonObject): KubeObject =>
  withTop(object, "spec", { ...objectAt(object, "spec"), ...more });

function withTemplate(object: KubeObject): KubeObject {
  const template = objectAt(object, "spec", "template");
  return withSpec(object, {
    template: { ...template, spec: completedPodSpec(objectAt(template, "spec")) },
  });
}

/** Under RollingUpdate there are limits; under another strategy there are none. */
function withStrategy(object: KubeObject, key: string, limits: JsonObject): KubeObject {
  const strategy = objectAt(object, "spec", key);
  if (strategy["type"] !== "RollingUpdate") return object;
  const rollingUpdate = { ...limits, ...objectAt(strategy, "rollingUpdate") };
  return withSpec(object, { [key]: { ...strategy, rollingUpdate } });
}

function errors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const [asked, before] = [field(object, "spec", "selector"), field(old, "spec", "selector")];
  const given = field(object, "spec", "template", "metadata", "labels");
  const labels = given ?? {};
  const missing = !isObject(asked);
  const template = { ...object, metadata: { labels } };
  return [
    ...when(missing, required("spec.selector")),
    ...when(
      missing || !labelsMatch(selectorText(asked))(template),
      invalid("spec.template.metadata.labels", given ?? null, "`selector` does not match template `labels`"),
    ),
    ...when(
      old !== undefined && !equal(asked, before),
      invalid("spec.selector", asked ?? null, "field is immutable"),
    ),
  ];
}

const behaviour = (key: string | undefined, limits: JsonObject): Behaviour => ({
  completed: (object) => {
    const templated = withTemplate(object);
    return key === undefined ? templated : withStrategy(templated, key, limits);
  },
  errors,
});

/** What a scale subresource of these kinds maps to. */
const scale = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: "",
};
const workload = { status: true, generation: true, unconditionalUpdate: true, categories: ["all"] } as const;
const history = { revisionHistoryLimit: or(integer, 10), minReadySeconds: integer };

/** Rows for the table of built-in kinds. */
export const workloads: readonly (Partial<ResourceType> &
  Pick<ResourceType, "kind" | "resource" | "schema">)[] = [
  {
    ...{ ...workload, kind: "Deployment", resource: "deployments", shortNames: ["deploy"], scale },
    schema: fields({
      spec: struct({
        ...{ ...selector, ...history, paused: boolean, replicas: or(integer, 1) },
        strategy: struct(rolling),
        progressDeadlineSeconds: or(integer, 600),
      }),
      status: status("", "lastUpdateTime lastTransitionTime"),
    }),
    behaviour: behaviour("strategy", { maxSurge: "25%", maxUnavailable: "25%" }),
    columns: deploymentColumns,
  },
  {
    ...{ ...workload, kind: "ReplicaSet", resource: "replicasets", shortNames: ["rs"], scale },
    schema: fields({
      spec: struct({ ...selector, minReadySeconds: integer, replicas: or(integer, 1) }),
      status: status("replicas", "lastTransitionTime"),
    }),
    behaviour: behaviour(undefined, {}),
    columns: replicaSetColumns,
    selectable: ["status.replicas"],
  },
  {
    ...{ ...workload, kind: "StatefulSet", resource: "statefulsets", shortNames: ["sts"], scale },
    schema: fields({
      spec: struct({
        ...{ ...selector, ...history, replicas: or(integer, 1) },
        volumeClaimTemplates: listOf(anyObject),
        serviceName: or(string, ""),
        podManagementPolicy: or(string, "OrderedReady"),
        updateStrategy: struct(rolling),
        persistentVolumeClaimRetentionPolicy: or(
          fields(each("whenDeleted whenScaled", or(string, "Retain"))),
          {},
        ),
        ordinals: knowing({ start: integer }),
      }),
      status: status("replicas availableReplicas", "lastTransitionTime"),
    }),
    behaviour: behaviour("updateStrategy", { partition: 0 }),
    columns: statefulSetColumns,
  },
  {
    ...{ kind: "ControllerRevision", resource: "controllerrevisions", unconditionalUpdate: true },
    schema: fields({ data: anyScalar, revision: integer }),
    columns: [column("Revision", ".revision", "integer"), ageColumn],
  },
];
