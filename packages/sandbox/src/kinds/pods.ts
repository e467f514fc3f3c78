// Pods: the server binds a pod to a node once, and removes it only after its grace period. Of a pod's spec it fills in
// only the defaults that controllers and nodes read, and does not validate it.
import { forbidden, notSupported, required, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { equal, field, listAt, objectAt, omit, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { beingDeleted, isKubeObject, nameOf, withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import type { Behaviour } from "./resource-type.ts";
import {
  alwaysPresent,
  anyObject,
  fields,
  integer,
  openObject,
  listOf,
  withDefault,
  string,
} from "../schema/schema-builders.ts";
import * as status from "../http/status.ts";

const podSpec = openObject({
  containers: { ...listOf(anyObject), "x-nullable-list": true },
  restartPolicy: withDefault(string, "Always"),
  terminationGracePeriodSeconds: withDefault(integer, 30),
});
export const podSchema: JsonObject = fields({
  spec: alwaysPresent(podSpec),
  status: withDefault(anyObject, {}),
});
/** The schema of a template of pods. */
export const podTemplate: JsonObject = alwaysPresent(
  openObject({ metadata: alwaysPresent(anyObject), spec: alwaysPresent(podSpec) }),
);

const nodeOf = (pod: KubeObject): string => textAt(pod, "spec", "nodeName") ?? "";

/**
 * The seconds until a deleted pod is gone: 0 for a pod that has finished or is on no node, else the seconds of the
 * request, else those of its spec (registry/core/pod, CheckGracefulDelete).
 */
function gracePeriod(pod: KubeObject, asked: number | undefined): number {
  const phase = textAt(pod, "status", "phase");
  if (nodeOf(pod) === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const given = field(pod, "spec", "terminationGracePeriodSeconds");
  const period = asked ?? (typeof given === "number" ? given : 0);
  return period < 0 ? 1 : period;
}

const fixed =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** The part of a pod's spec that an update must not change. */
const kept = (pod: KubeObject): JsonObject => {
  const spec = objectAt(pod, "spec");
  const withoutImages = (key: string): Json => listAt(spec, key).map((one) => omit(objectAt(one), "image"));
  return {
    ...omit(spec, "activeDeadlineSeconds", "tolerations", "schedulingGates"),
    containers: withoutImages("containers"),
    initContainers: withoutImages("initContainers"),
  };
};
const updateErrors = (pod: KubeObject, old: KubeObject): FieldError[] =>
  when(!equal(kept(pod), kept(old)), forbidden("spec", fixed));

export const podBehaviour: Behaviour = {
  gracePeriod,
  admitted: (pod, old) => (old ? pod : withTop(pod, "status", { phase: "Pending" })),
  errors: (pod, old) => (old ? updateErrors(pod, old) : []),
};

/** The node of a Binding. Throws 400 if the body is not a Binding, or names another pod. */
export function nodeOfBinding(body: Json, name: string): string {
  if (!isKubeObject(body) || body.kind !== "Binding") throw status.badRequest("not a Binding object");
  if (nameOf(body) !== name) throw status.badRequest("name in URL does not match name in Binding object");
  const [kind, node] = [textAt(body, "target", "kind") ?? "", textAt(body, "target", "name") ?? ""];
  const problems = [
    ...(kind === "" || kind === "Node" ? [] : [notSupported("target.kind", kind, ["Node", "<empty>"])]),
    ...(node === "" ? [required("target.name")] : []),
  ].map((problem) => `${problem.field}: ${problem.body}`);
  if (problems.length === 0) return node;
  throw status.serverError(problems.length === 1 ? String(problems[0]) : `[${problems.join(", ")}]`);
}

/** The pod with this node. Throws 409 if the pod already has a node or is being deleted. */
export function bound(pod: KubeObject, node: string, now: string): KubeObject {
  const name = nameOf(pod);
  const refusal = beingDeleted(pod)
    ? `pod ${name} is being deleted, cannot be assigned to a host`
    : nodeOf(pod) !== ""
      ? `pod ${name} is already assigned to node ${JSON.stringify(nodeOf(pod))}`
      : listAt(pod, "spec", "schedulingGates").length > 0
        ? `pod ${name} has non-empty .spec.schedulingGates`
        : undefined;
  if (refusal !== undefined)
    throw status.conflict({ group: "", resource: "pods/binding", kind: "" }, name, refusal);
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  const others = listAt(pod, "status", "conditions").filter((one) => textAt(one, "type") !== "PodScheduled");
  const boundStatus: JsonObject = { ...objectAt(pod, "status"), conditions: [...others, scheduled] };
  return withTop(withTop(pod, "spec", { ...objectAt(pod, "spec"), nodeName: node }), "status", boundStatus);
}
