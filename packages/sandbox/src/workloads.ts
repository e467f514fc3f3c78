// Deployments, ReplicaSets and StatefulSets as the API server knows them: their fields, defaults, and what is wrong with them
// (apis/apps). What makes pods of them is a controller's.
import { forbidden, invalid, notSupported, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { labelErrors } from "./names.ts";
import { completedPodSpec } from "./pod-defaults.ts";
import { podTemplateSchema } from "./pod-schema.ts";
import { podSpecErrors } from "./pod-validation.ts";
import type { Behaviour } from "./resource-type.ts";
import {
  always,
  anyObject,
  each,
  fields,
  listOf,
  intOrString,
  labelSelector,
  listBy,
  or,
  string,
  struct,
} from "./schema-words.ts";

const whenever = or(string, null);
/** Conditions of a status, with the times that each has. */
export const conditions = (...times: readonly string[]): JsonObject =>
  listBy("type", struct({ kept: "type status", text: "reason message" }, each(times.join(" "), whenever)));
const whole = { type: "integer" };
const common = (metadata: JsonObject): JsonObject => ({
  replicas: or(whole, 1),
  selector: or(labelSelector, null),
  template: podTemplateSchema(metadata),
});

/** Of a Deployment, with the schema of metadata for its template. */
export const deploymentSchema = (metadata: JsonObject): JsonObject =>
  fields({
    spec: always(
      struct(
        { number: "minReadySeconds", flag: "paused" },
        {
          ...common(metadata),
          strategy: always(
            struct(
              { text: "type" },
              { rollingUpdate: fields({ maxUnavailable: intOrString, maxSurge: intOrString }) },
            ),
          ),
          revisionHistoryLimit: or(whole, 10),
          progressDeadlineSeconds: or(whole, 600),
        },
      ),
    ),
    status: always(
      struct(
        {
          number:
            "observedGeneration replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas",
          integer: "terminatingReplicas collisionCount",
        },
        { conditions: conditions("lastUpdateTime", "lastTransitionTime") },
      ),
    ),
  });

/** Of a ReplicaSet, with the schema of metadata for its template. */
export const replicaSetSchema = (metadata: JsonObject): JsonObject =>
  fields({
    spec: always(struct({ number: "minReadySeconds" }, common(metadata))),
    status: always(
      struct(
        {
          number: "fullyLabeledReplicas readyReplicas availableReplicas observedGeneration",
          integer: "terminatingReplicas",
        },
        {
          replicas: or(whole, 0),
          conditions: conditions("lastTransitionTime"),
        },
      ),
    ),
  });

/** Of a StatefulSet, with the schema of metadata for its template. */
export const statefulSetSchema = (metadata: JsonObject): JsonObject =>
  fields({
    spec: always(
      struct(
        { number: "minReadySeconds" },
        {
          ...common(metadata),
          serviceName: or(string, ""),
          volumeClaimTemplates: listOf(anyObject),
          podManagementPolicy: or(string, "OrderedReady"),
          updateStrategy: always(fields({ type: or(string, "RollingUpdate"), rollingUpdate: anyObject })),
          revisionHistoryLimit: or(whole, 10),
          persistentVolumeClaimRetentionPolicy: or(
            fields(each("whenDeleted whenScaled", or(string, "Retain"))),
            {},
          ),
          ordinals: struct({ integer: "start" }),
        },
      ),
    ),
    status: always(
      struct(
        {
          number: "observedGeneration readyReplicas currentReplicas updatedReplicas",
          text: "currentRevision updateRevision",
          integer: "collisionCount",
        },
        {
          replicas: or(whole, 0),
          availableReplicas: or(whole, 0),
          conditions: conditions("lastTransitionTime"),
        },
      ),
    ),
  });

function withTemplate(object: KubeObject): KubeObject {
  const spec = objectAt(object, "spec");
  const template = objectAt(spec, "template");
  return withTop(object, "spec", {
    ...spec,
    template: { ...template, spec: completedPodSpec(objectAt(template, "spec")) },
  });
}

/** Under RollingUpdate there are limits; under another strategy there are none. */
function withStrategy(object: KubeObject, key: string, limits: JsonObject): KubeObject {
  const spec = objectAt(object, "spec");
  const strategy = objectAt(spec, key);
  const type = textAt(strategy, "type") ?? "RollingUpdate";
  if (type !== "RollingUpdate") return object;
  const rollingUpdate = { ...limits, ...objectAt(strategy, "rollingUpdate") };
  return withTop(object, "spec", { ...spec, [key]: { ...strategy, type, rollingUpdate } });
}

const numberAt = (value: Json | undefined, key: string): number => {
  const found = field(value, key);
  return typeof found === "number" ? found : 0;
};
const notNegative = (of: Json | undefined, path: string, ...keys: readonly string[]): FieldError[] =>
  keys.flatMap((key) =>
    when(
      numberAt(of, key) < 0,
      invalid(`${path}.${key}`, numberAt(of, key), "must be greater than or equal to 0"),
    ),
  );

function matches(selector: Json | undefined, labels: JsonObject): boolean {
  const exact = Object.entries(objectAt(selector, "matchLabels")).every(
    ([key, value]) => labels[key] === value,
  );
  return (
    exact &&
    listAt(selector, "matchExpressions").every((one) => {
      const found = textAt(labels, textAt(one, "key") ?? "");
      const isIn = found !== undefined && listAt(one, "values").includes(found);
      switch (textAt(one, "operator")) {
        case "In":
          return isIn;
        case "NotIn":
          return !isIn;
        case "Exists":
          return found !== undefined;
        case "DoesNotExist":
          return found === undefined;
        case undefined:
        default:
          return false;
      }
    })
  );
}

function selectorErrors(selector: Json | undefined): FieldError[] {
  if (selector === undefined || selector === null) return [required("spec.selector")];
  const empty =
    Object.keys(objectAt(selector, "matchLabels")).length + listAt(selector, "matchExpressions").length === 0;
  return [
    ...labelErrors(objectAt(selector, "matchLabels"), "spec.selector.matchLabels"),
    ...when(empty, invalid("spec.selector", selector, "empty selector is invalid for deployment")),
  ];
}

function templateErrors(spec: JsonObject): FieldError[] {
  const selector = field(spec, "selector");
  const template = objectAt(spec, "template");
  const labels = objectAt(template, "metadata", "labels");
  const pod = objectAt(template, "spec");
  const restart = textAt(pod, "restartPolicy") ?? "";
  const unmatched = "`selector` does not match template `labels`";
  const at = "spec.template.metadata.labels";
  return [
    ...when(
      selector !== null && !matches(selector, labels),
      invalid(at, "labels" in objectAt(template, "metadata") ? labels : null, unmatched),
    ),
    ...labelErrors(labels, at),
    ...podSpecErrors(pod, "spec.template.spec"),
    ...when(restart !== "Always", notSupported("spec.template.spec.restartPolicy", restart, ["Always"])),
    ...when(
      field(pod, "activeDeadlineSeconds") !== undefined,
      forbidden(
        "spec.template.spec.activeDeadlineSeconds",
        "activeDeadlineSeconds in ReplicaSet is not Supported",
      ),
    ),
  ];
}

const share = (value: Json | undefined): number =>
  typeof value === "number" ? value : Number.parseInt(typeof value === "string" ? value : "0", 10);
function strategyErrors(strategy: JsonObject): FieldError[] {
  const at = "spec.strategy";
  const type = textAt(strategy, "type");
  const rolling = field(strategy, "rollingUpdate");
  if (type === "Recreate")
    return when(
      rolling !== undefined,
      forbidden(`${at}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"),
    );
  if (type !== "RollingUpdate") return [notSupported(at, strategy, ["Recreate", "RollingUpdate"])];
  const none = share(field(rolling, "maxUnavailable")) === 0 && share(field(rolling, "maxSurge")) === 0;
  const unavailableAt = `${at}.rollingUpdate.maxUnavailable`;
  return when(
    none,
    invalid(unavailableAt, field(rolling, "maxUnavailable"), "may not be 0 when `maxSurge` is 0"),
  );
}

const tooMany = "cannot be greater than status.replicas";
function statusErrors(status: JsonObject, ...parts: readonly string[]): FieldError[] {
  const most = numberAt(status, "replicas");
  const [available, ready] = [numberAt(status, "availableReplicas"), numberAt(status, "readyReplicas")];
  return [
    ...notNegative(status, "status", "observedGeneration", "replicas", ...parts),
    ...parts.flatMap((key) =>
      when(numberAt(status, key) > most, invalid(`status.${key}`, numberAt(status, key), tooMany)),
    ),
    ...when(
      available > ready,
      invalid("status.availableReplicas", available, "cannot be greater than readyReplicas"),
    ),
  ];
}

const selectorKept = (spec: JsonObject, old: KubeObject | undefined): FieldError[] => {
  const [selector, before] = [field(spec, "selector"), field(old, "spec", "selector")];
  return when(
    old !== undefined && !equal(selector, before),
    invalid("spec.selector", selector, "field is immutable"),
  );
};

/** What ReplicaSets and StatefulSets have in common. */
function setErrors(spec: JsonObject, old: KubeObject | undefined): FieldError[] {
  return [
    ...notNegative(spec, "spec", "replicas", "minReadySeconds"),
    ...selectorErrors(field(spec, "selector")),
    ...templateErrors(spec),
    ...selectorKept(spec, old),
  ];
}

export const deploymentBehaviour: Behaviour = {
  leavesMetadata: "whole",
  countsAnnotations: true,
  keepsLabels: true,
  completed: (deployment) =>
    withTemplate(withStrategy(deployment, "strategy", { maxUnavailable: "25%", maxSurge: "25%" })),
  errors: (deployment, old) => {
    const spec = objectAt(deployment, "spec");
    const [deadline, ready] = [numberAt(spec, "progressDeadlineSeconds"), numberAt(spec, "minReadySeconds")];
    return [
      ...notNegative(spec, "spec", "replicas"),
      ...selectorErrors(field(spec, "selector")),
      ...templateErrors(spec),
      ...strategyErrors(objectAt(spec, "strategy")),
      ...notNegative(spec, "spec", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"),
      ...when(
        deadline <= ready,
        invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"),
      ),
      ...selectorKept(spec, old),
      ...statusErrors(
        objectAt(deployment, "status"),
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
      ),
    ];
  },
};

export const replicaSetBehaviour: Behaviour = {
  leavesMetadata: "whole",
  completed: withTemplate,
  errors: (set, old) => [
    ...setErrors(objectAt(set, "spec"), old),
    ...statusErrors(objectAt(set, "status"), "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
  ],
};

export const statefulSetBehaviour: Behaviour = {
  leavesMetadata: "whole",
  completed: (set) => withTemplate(withStrategy(set, "updateStrategy", { partition: 0 })),
  errors: (set, old) => setErrors(objectAt(set, "spec"), old),
};
