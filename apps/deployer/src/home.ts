import { type ObjectMetadata, ReconcileFunction } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { ownerAnnotation } from "./keep-object.ts";
import { functionLabel, namespaceLabel } from "./names.ts";

/** Where a function is. */
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

/** The selector of all that is labelled as a function's, in any namespace. */
export const selectorOf = (home: Home): string =>
  Object.entries(labelsOf(home))
    .map(([label, value]) => `${label}=${value}`)
    .join(",");

/** Whether an object is labelled as the function's. */
export const isLabelledFor = ({ metadata }: Pick<KubeObject, "metadata">, home: Home): boolean =>
  Object.entries(labelsOf(home)).every(([label, value]) => metadata.labels?.[label] === value);

/** The owner that the function's objects name: they go when it goes. */
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

/** The same for what is in no namespace, and so can have no owner there. */
export const ownedInCluster = (home: Home, name: string, labels: Readonly<Record<string, string>> = {}) => ({
  name,
  labels: { ...labelsOf(home), ...labels },
  annotations: { [ownerAnnotation]: home.uid },
});

/** The same for what is in another namespace than the function, where an owner reference would have it collected. */
export const ownedElsewhere = (home: Home, namespace: string, name: string) => ({
  ...ownedInCluster(home, name),
  namespace,
});

/** A ServiceAccount: of one of Drover's own parts, or of a function. */
export interface PartAccount {
  readonly namespace: string;
  readonly name: string;
}
