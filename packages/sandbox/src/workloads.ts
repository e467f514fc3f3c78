// Deployments and ReplicaSets as the API server knows them: their fields, defaults, and what is wrong with them
// (apis/apps). What makes pods of them is a controller's.
import { forbidden, invalid, notSupported, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, listAt, objectAt, textAt, textsAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { annotationErrors, labelErrors, labelKeyFaults, labelValueFaults } from "./names.ts";
import { completedPodSpec } from "./pod-defaults.ts";
import { podTemplateSchema } from "./pod-schema.ts";
import { podSpecErrors } from "./pod-validation.ts";
import type { Behaviour } from "./resource-type.ts";
import {
  always,
  each,
  fields,
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
export const whole = { type: "integer" };
/** What the specs of all of them have. */
export const common = (metadata: JsonObject): JsonObject => ({
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

/** With the defaults of its pods. */
export function withTemplate(object: KubeObject): KubeObject {
  const spec = objectAt(object, "spec");
  const template = objectAt(spec, "template");
  return withTop(object, "spec", {
    ...spec,
    template: { ...template, spec: completedPodSpec(objectAt(template, "spec")) },
  });
}

/** Under RollingUpdate there are limits; under another strategy there are none. */
function withStrategy(object: KubeObject): KubeObject {
  const spec = objectAt(object, "spec");
  const strategy = objectAt(spec, "strategy");
  const type = textAt(strategy, "type") ?? "RollingUpdate";
  if (type !== "RollingUpdate") return object;
  const rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...objectAt(strategy, "rollingUpdate") };
  return withTop(object, "spec", { ...spec, strategy: { ...strategy, type, rollingUpdate } });
}

/** The number there, or 0. */
export const numberAt = (value: Json | undefined, key: string): number => {
  const found = field(value, key);
  return typeof found === "number" ? found : 0;
};
/** Errors for those of these numbers that are below 0. */
export const notNegative = (of: Json | undefined, path: string, ...keys: readonly string[]): FieldError[] =>
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

function requirementErrors(one: Json, path: string): FieldError[] {
  const [key, operator] = [textAt(one, "key") ?? "", textAt(one, "operator") ?? ""];
  const values = textsAt(one, "values");
  const [listed, bare] = [["In", "NotIn"].includes(operator), ["Exists", "DoesNotExist"].includes(operator)];
  const needed = "must be specified when `operator` is 'In' or 'NotIn'";
  const unwanted = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
  return [
    ...when(listed && values.length === 0, required(`${path}.values`, needed)),
    ...when(bare && values.length > 0, forbidden(`${path}.values`, unwanted)),
    ...when(!listed && !bare, invalid(`${path}.operator`, operator, "not a valid selector operator")),
    ...labelKeyFaults(key).map((fault) => invalid(`${path}.key`, key, fault)),
    ...values.flatMap((value, i) =>
      labelValueFaults(value).map((fault) => invalid(`${path}.values[${i}]`, value, fault)),
    ),
  ];
}

/** How a kind says what is wrong with its selector and its template. */
export interface Wording {
  readonly empty: string;
  readonly unread: string;
  readonly deadline: string;
}
const wording: Wording = { empty: "deployment", unread: "invalid label selector", deadline: "ReplicaSet" };

/** What is wrong with the selector of a spec, and with its template, of which `pod` is the part that is looked at. */
export function selectionErrors(spec: JsonObject, pod: JsonObject, words: Wording = wording): FieldError[] {
  const selector = field(spec, "selector");
  const at = "spec.selector";
  if (selector === undefined || selector === null)
    return [required(at), ...templateErrors(spec, pod, words, true)];
  const empty =
    Object.keys(objectAt(selector, "matchLabels")).length + listAt(selector, "matchExpressions").length === 0;
  const wrong = [
    ...labelErrors(objectAt(selector, "matchLabels"), `${at}.matchLabels`),
    ...listAt(selector, "matchExpressions").flatMap((one, i) =>
      requirementErrors(one, `${at}.matchExpressions[${i}]`),
    ),
  ];
  const labels = objectAt(spec, "template", "metadata", "labels");
  return [
    ...wrong,
    ...when(empty, invalid(at, selector, `empty selector is invalid for ${words.empty}`)),
    ...(wrong.length > 0
      ? [invalid(at, selector, words.unread)]
      : templateErrors(spec, pod, words, !matches(selector, labels))),
  ];
}

/** What is wrong with the labels and annotations of the template. */
export const templateNameErrors = (spec: JsonObject): FieldError[] => [
  ...labelErrors(objectAt(spec, "template", "metadata", "labels"), "spec.template.labels"),
  ...annotationErrors(objectAt(spec, "template", "metadata", "annotations"), "spec.template.annotations"),
];

function templateErrors(
  spec: JsonObject,
  pod: JsonObject,
  { deadline }: Wording,
  unmatched: boolean,
): FieldError[] {
  const metadata = objectAt(spec, "template", "metadata");
  const restart = textAt(pod, "restartPolicy") ?? "";
  const mismatch = "`selector` does not match template `labels`";
  const why = `activeDeadlineSeconds in ${deadline} is not Supported`;
  return [
    ...when(unmatched, invalid("spec.template.metadata.labels", metadata["labels"] ?? null, mismatch)),
    ...templateNameErrors(spec),
    ...podSpecErrors(pod, "spec.template.spec"),
    ...when(restart !== "Always", notSupported("spec.template.spec.restartPolicy", restart, ["Always"])),
    ...when(
      field(pod, "activeDeadlineSeconds") !== undefined,
      forbidden("spec.template.spec.activeDeadlineSeconds", why),
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
/** What is wrong with the counts of a status, which has these `parts` besides replicas. */
export function statusErrors(status: JsonObject, ...parts: readonly string[]): FieldError[] {
  const moreThanReady = `cannot be greater than ${parts.includes("currentReplicas") ? "status." : ""}readyReplicas`;
  const most = numberAt(status, "replicas");
  const [available, ready] = [numberAt(status, "availableReplicas"), numberAt(status, "readyReplicas")];
  return [
    ...notNegative(status, "status", "observedGeneration", "replicas", ...parts),
    ...parts.flatMap((key) =>
      when(numberAt(status, key) > most, invalid(`status.${key}`, numberAt(status, key), tooMany)),
    ),
    ...when(available > ready, invalid("status.availableReplicas", available, moreThanReady)),
  ];
}

const selectorKept = (spec: JsonObject, old: KubeObject | undefined): FieldError[] => {
  const [selector, before] = [field(spec, "selector"), field(old, "spec", "selector")];
  return when(
    old !== undefined && !equal(selector, before),
    invalid("spec.selector", selector, "field is immutable"),
  );
};

export const deploymentBehaviour: Behaviour = {
  leavesMetadata: "whole",
  countsAnnotations: true,
  statusKeeps: ["labels"],
  completed: (deployment) => withTemplate(withStrategy(deployment)),
  errors: (deployment, old) => {
    const spec = objectAt(deployment, "spec");
    const [deadline, ready] = [numberAt(spec, "progressDeadlineSeconds"), numberAt(spec, "minReadySeconds")];
    return [
      ...notNegative(spec, "spec", "replicas"),
      ...selectionErrors(spec, objectAt(spec, "template", "spec")),
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
  errors: (set, old) => {
    const spec = objectAt(set, "spec");
    return [
      ...notNegative(spec, "spec", "replicas", "minReadySeconds"),
      ...selectionErrors(spec, objectAt(spec, "template", "spec")),
      ...selectorKept(spec, old),
      ...statusErrors(objectAt(set, "status"), "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    ];
  },
};
