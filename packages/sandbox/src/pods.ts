// What the API server itself does with pods: it binds them to a node, once, and lets them go only after their grace.
import { notSupported, required } from "./field-errors.ts";
import { field, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { beingDeleted, isKubeObject, nameOf, withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { admittedPod, completedPod, qosClass } from "./pod-defaults.ts";
import { podSpecErrors, podUpdateErrors } from "./pod-validation.ts";
import type { Behaviour } from "./resource-type.ts";
import * as status from "./status.ts";

const nodeOf = (pod: KubeObject): string => textAt(pod, "spec", "nodeName") ?? "";

/**
 * Seconds until a deleted pod is gone: none for one that is on no node or has finished, else what is asked for, else
 * what its spec says (registry/core/pod, CheckGracefulDelete).
 */
function gracePeriod(pod: KubeObject, asked: number | undefined): number {
  const phase = textAt(pod, "status", "phase");
  if (nodeOf(pod) === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const given = field(pod, "spec", "terminationGracePeriodSeconds");
  const period = asked ?? (typeof given === "number" ? given : 0);
  return period < 0 ? 1 : period;
}

function admitted(pod: KubeObject, old: KubeObject | undefined): KubeObject {
  const spec = admittedPod(objectAt(pod, "spec"), old && objectAt(old, "spec"));
  const status = old ? objectAt(pod, "status") : { phase: "Pending" };
  const quality = textAt(old, "status", "qosClass") ?? qosClass(spec);
  return withTop(withTop(pod, "spec", spec), "status", { ...status, qosClass: quality });
}

export const podBehaviour: Behaviour = {
  // Kubelets of old did not know owners, and took them away.
  statusKeeps: ["ownerReferences", "deletionTimestamp"],
  gracePeriod,
  completed: (pod) => withTop(pod, "spec", completedPod(objectAt(pod, "spec"))),
  admitted,
  errors: (pod, old) => [
    ...podSpecErrors(objectAt(pod, "spec"), "spec"),
    ...(old ? podUpdateErrors(objectAt(pod, "spec"), objectAt(old, "spec")) : []),
  ],
};

/** The node that a Binding is about. Throws 400 when it is none, or another pod's. */
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

/** The pod on this node. Throws 409 when it is on one already or about to go. */
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
  const said: JsonObject = { ...objectAt(pod, "status"), conditions: [...others, scheduled] };
  return withTop(withTop(pod, "spec", { ...objectAt(pod, "spec"), nodeName: node }), "status", said);
}
