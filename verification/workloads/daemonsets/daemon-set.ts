// Fields of a DaemonSet, its pods and nodes.
import { field, isObject, listAt, objectAt, textAt, textsAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import { numberAt, revisionHashLabel } from "../sequences/kinds.ts";

export const hashOf = (object: Json): string => textAt(object, "metadata", "labels", revisionHashLabel) ?? "";

/** The pod is of the current template, by its hash or, as before there were hashes, by its number. */
export const isUpdated = (set: Json, pod: Json, hash: string): boolean =>
  hashOf(pod) === hash ||
  textAt(pod, "metadata", "labels", "pod-template-generation") ===
    textAt(set, "metadata", "annotations", "deprecated.daemonset.template.generation");

/** The node of a pod, or the one that it is pinned to. */
export function nodeOf(pod: Json): string {
  const required = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
  const [pin] = listAt(pod, ...required, "nodeSelectorTerms")
    .flatMap((term) => listAt(term, "matchFields"))
    .flatMap((one) => textsAt(one, "values"));
  return textAt(pod, "spec", "nodeName") ?? pin ?? "";
}

export const strategyOf = (set: Json): string => textAt(set, "spec", "updateStrategy", "type") ?? "";
export const surges = (set: Json): boolean => {
  const surge = field(set, "spec", "updateStrategy", "rollingUpdate", "maxSurge") ?? 0;
  return strategyOf(set) === "RollingUpdate" && surge !== 0 && surge !== "0%";
};
export const ripeningSeconds = (set: Json): number => numberAt(set, "spec", "minReadySeconds") ?? 0;

const taintsOf = (node: Json): readonly JsonObject[] => listAt(node, "spec", "taints").filter(isObject);
export const isNotReady = (node: Json): boolean =>
  taintsOf(node).some((taint) => textAt(taint, "key") === "node.kubernetes.io/not-ready");

function tolerates(toleration: Json, taint: Json): boolean {
  const part = (name: string): string => textAt(toleration, name) ?? "";
  return (
    part("key") === textAt(taint, "key") &&
    ["", textAt(taint, "effect")].includes(part("effect")) &&
    (part("operator") === "Exists" || part("value") === textAt(taint, "value"))
  );
}

/** `run` if a node should have a pod of it, `keep` if it may keep one. Only by the rules that the sequences use. */
export function placement(set: Json, node: Json): "run" | "keep" | "none" {
  const pod = objectAt(set, "spec", "template", "spec");
  const label = (key: string): string | undefined => textAt(node, "metadata", "labels", key);
  const required = ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
  const requirements = listAt(pod, ...required, "nodeSelectorTerms").flatMap((term) =>
    listAt(term, "matchExpressions"),
  );
  const matches =
    Object.entries(objectAt(pod, "nodeSelector")).every(([key, value]) => label(key) === value) &&
    requirements.every((one) => {
      const isIn = textsAt(one, "values").includes(label(textAt(one, "key") ?? "") ?? "");
      return textAt(one, "operator") === "In" ? isIn : !isIn;
    });
  if (!matches) return "none";
  const untolerated = taintsOf(node)
    .filter((taint) => textAt(taint, "key") !== "node.kubernetes.io/unschedulable")
    .filter((taint) => !listAt(pod, "tolerations").some((one) => tolerates(one, taint)))
    .map((taint) => textAt(taint, "effect"));
  if (untolerated.includes("NoExecute")) return "none";
  return untolerated.includes("NoSchedule") ? "keep" : "run";
}
