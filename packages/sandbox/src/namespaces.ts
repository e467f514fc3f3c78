import { invalid, when } from "./field-errors.ts";
import { listAt, objectAt, textAt } from "./json.ts";
import { beingDeleted, nameOf, withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import type { Behaviour } from "./resource-type.ts";

const labelled = (namespace: KubeObject): KubeObject => {
  const labels = {
    ...objectAt(namespace, "metadata", "labels"),
    "kubernetes.io/metadata.name": nameOf(namespace),
  };
  return { ...namespace, metadata: { ...namespace.metadata, labels } };
};

/** A namespace carries its name as a label, and stays, Terminating, until its content is gone. */
export const namespaceBehaviour: Behaviour = {
  completed: (namespace, old) =>
    old
      ? withTop(labelled(namespace), "spec", objectAt(old, "spec"))
      : { ...labelled(namespace), spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } },
  errors(namespace) {
    const phase = textAt(namespace, "status", "phase") ?? "";
    const right = beingDeleted(namespace) ? "Terminating" : "Active";
    const why = `may only be '${right}' if \`deletionTimestamp\` is ${beingDeleted(namespace) ? "not " : ""}empty`;
    return when(phase !== right, invalid("status.Phase", phase, why));
  },
  terminating: (namespace) =>
    withTop(namespace, "status", { ...objectAt(namespace, "status"), phase: "Terminating" }),
  held: (namespace) => listAt(namespace, "spec", "finalizers").length > 0,
};
