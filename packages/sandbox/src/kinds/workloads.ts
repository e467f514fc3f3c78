// Deployments and ReplicaSets: their defaults and their selector, which stays. Controllers make pods of them, and the
// rest of what a real server checks is tested on a real one.
import { invalid, when } from "../admission/field-errors.ts";
import { equal, field, objectAt, textAt } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { podTemplate } from "./pods.ts";
import type { Behaviour } from "./resource-type.ts";
import {
  alwaysPresent,
  anyObject,
  boolean,
  each,
  fields,
  integer,
  openObject,
} from "../schema/schema-builders.ts";
import { listOf, omitEmpty, withDefault, string } from "../schema/schema-builders.ts";

const common = {
  replicas: withDefault(integer, 1),
  minReadySeconds: integer,
  selector: anyObject,
  template: podTemplate,
};
/** A status with these counts. A zero is left out, and so is an empty list. */
const statusWith = (counts: string, others: JsonObject = {}): JsonObject =>
  alwaysPresent(
    openObject({ ...each(counts, omitEmpty(integer)), conditions: listOf(anyObject), ...others }),
  );
export const replicaSetSchema: JsonObject = fields({
  spec: alwaysPresent(openObject(common)),
  status: statusWith("fullyLabeledReplicas readyReplicas availableReplicas observedGeneration", {
    replicas: withDefault(integer, 0),
  }),
});
export const deploymentSchema: JsonObject = fields({
  spec: alwaysPresent(
    openObject({
      ...common,
      paused: boolean,
      strategy: alwaysPresent(openObject({ type: withDefault(string, "RollingUpdate") })),
      revisionHistoryLimit: withDefault(integer, 10),
      progressDeadlineSeconds: withDefault(integer, 600),
    }),
  ),
  status: statusWith(
    "observedGeneration replicas updatedReplicas readyReplicas availableReplicas unavailableReplicas",
  ),
});

/** A rolling update has limits, and another strategy has none. */
function withStrategy(deployment: KubeObject): KubeObject {
  const spec = objectAt(deployment, "spec");
  const strategy = objectAt(spec, "strategy");
  if (textAt(strategy, "type") !== "RollingUpdate") return deployment;
  const rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...objectAt(strategy, "rollingUpdate") };
  return withTop(deployment, "spec", { ...spec, strategy: { ...strategy, rollingUpdate } });
}

export const replicaSetBehaviour: Behaviour = {
  errors: (object, old) => {
    const [selector, before] = [field(object, "spec", "selector"), field(old, "spec", "selector")];
    const isChanged = old !== undefined && !equal(selector, before);
    return when(isChanged, invalid("spec.selector", selector, "field is immutable"));
  },
};
export const deploymentBehaviour: Behaviour = {
  ...replicaSetBehaviour,
  completed: withStrategy,
  countsAnnotations: true,
};
