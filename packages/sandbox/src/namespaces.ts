import { listAt, objectAt } from "./json.ts";
import { nameOf, withTop } from "./kube-object.ts";
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
      ? labelled(namespace)
      : { ...labelled(namespace), spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } },
  terminating: (namespace) =>
    withTop(namespace, "status", { ...objectAt(namespace, "status"), phase: "Terminating" }),
  held: (namespace) => listAt(namespace, "spec", "finalizers").length > 0,
};
