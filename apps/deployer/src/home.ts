import { type ObjectMetadata, ReconcileFunction } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { ownerAnnotation } from "./keep-object.ts";
import { functionLabel, namespaceLabel } from "./names.ts";

/** The identity of a function. */
export interface Home {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

export const homeOf = ({ metadata }: { readonly metadata: ObjectMetadata }): Home => {
  const { name, namespace = "default", uid } = metadata;
  return { name, namespace, uid };
};

const labelsOf = ({ name, namespace }: Home) => ({ [functionLabel]: name, [namespaceLabel]: namespace });

/** The label selector of all objects of a function, in any namespace. */
export const selectorOf = (home: Home): string =>
  Object.entries(labelsOf(home))
    .map(([label, value]) => `${label}=${value}`)
    .join(",");

/** True if an object has the labels of the function. */
export const isLabelledFor = ({ metadata }: Pick<KubeObject, "metadata">, home: Home): boolean =>
  Object.entries(labelsOf(home)).every(([label, value]) => metadata.labels?.[label] === value);

/** Metadata of objects that the function owns: they are deleted with it. */
export const ownedBy = ({ name, namespace, uid }: Home) => ({
  namespace,
  labels: labelsOf({ name, namespace, uid }),
  ownerReferences: [
    {
      apiVersion: ReconcileFunction.apiVersion,
      kind: ReconcileFunction.kind,
      name,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ],
});

/** Metadata of cluster-scoped objects. The function cannot own them, so an annotation contains its uid. */
export const ownedInCluster = (home: Home, name: string, labels: Readonly<Record<string, string>> = {}) => ({
  name,
  labels: { ...labelsOf(home), ...labels },
  annotations: { [ownerAnnotation]: home.uid },
});

/**
 * Metadata of objects in other namespaces. With an owner reference to the function the garbage collector would delete
 * them.
 */
export const ownedElsewhere = (home: Home, namespace: string, name: string) => ({
  ...ownedInCluster(home, name),
  namespace,
});

/** A ServiceAccount: of one of Drover's own parts, or of a function. */
export interface PartAccount {
  readonly namespace: string;
  readonly name: string;
}
