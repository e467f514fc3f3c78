import { invalid, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { listAt, objectAt, textAt, textsAt } from "../json.ts";
import { beingDeleted, nameOf, withTop } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { finalizerFaults } from "../admission/names.ts";
import type { Behaviour } from "./resource-type.ts";

const labelled = (namespace: KubeObject): KubeObject => {
  const labels = {
    ...objectAt(namespace, "metadata", "labels"),
    "kubernetes.io/metadata.name": nameOf(namespace),
  };
  return { ...namespace, metadata: { ...namespace.metadata, labels } };
};

const heldBySpec = (namespace: KubeObject): boolean => listAt(namespace, "spec", "finalizers").length > 0;

function finalizerErrors(namespace: KubeObject): FieldError[] {
  return textsAt(namespace, "spec", "finalizers").flatMap((one, i) =>
    finalizerFaults(one).map((fault) => invalid(`spec.finalizers[${i}]`, one, fault)),
  );
}

const withFinalizer = (namespace: KubeObject): KubeObject => {
  const given = textsAt(namespace, "spec", "finalizers");
  const finalizers = given.includes("kubernetes") ? given : [...given, "kubernetes"];
  return withTop(namespace, "spec", { ...objectAt(namespace, "spec"), finalizers });
};

/** A namespace has its name as a label. A deleted one stays, as Terminating, until its content is gone. */
export const namespaceBehaviour: Behaviour = {
  completed: labelled,
  admitted: (namespace, old) =>
    old
      ? withTop(namespace, "spec", objectAt(old, "spec"))
      : withTop(withFinalizer(namespace), "status", { phase: "Active" }),
  errors(namespace, old) {
    if (!old) return finalizerErrors(namespace);
    const phase = textAt(namespace, "status", "phase") ?? "";
    const right = beingDeleted(namespace) ? "Terminating" : "Active";
    const why = `may only be '${right}' if \`deletionTimestamp\` is ${beingDeleted(namespace) ? "not " : ""}empty`;
    return when(phase !== right, invalid("status.Phase", phase, why));
  },
  terminating: (namespace) =>
    withTop(namespace, "status", { ...objectAt(namespace, "status"), phase: "Terminating" }),
  held: heldBySpec,
};
