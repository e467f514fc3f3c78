import { functionLabels, type ObjectMetadata, ReconcileFunction } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { ownerAnnotation } from "./names.ts";

/** The identity of a function. */
export interface FunctionRef {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

export const functionRefOf = ({ metadata }: { readonly metadata: ObjectMetadata }): FunctionRef => {
  const { name, namespace = "default", uid } = metadata;
  return { name, namespace, uid };
};

/** True if an object has the labels of the function. */
export const isLabelledFor = (
  { metadata }: Pick<KubeObject, "metadata">,
  functionRef: FunctionRef,
): boolean =>
  Object.entries(functionLabels(functionRef)).every(([label, value]) => metadata.labels?.[label] === value);

/** Metadata of objects that the function owns: they are deleted with it. */
export const ownedMetadata = ({ name, namespace, uid }: FunctionRef) => ({
  namespace,
  labels: functionLabels({ name, namespace }),
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
export const ownedClusterMetadata = (
  functionRef: FunctionRef,
  name: string,
  labels: Readonly<Record<string, string>> = {},
) => ({
  name,
  labels: { ...functionLabels(functionRef), ...labels },
  annotations: { [ownerAnnotation]: functionRef.uid },
});

/**
 * Metadata of objects in other namespaces. With an owner reference to the function the garbage collector would delete
 * them.
 */
export const ownedMetadataElsewhere = (functionRef: FunctionRef, namespace: string, name: string) => ({
  ...ownedClusterMetadata(functionRef, name),
  namespace,
});

/** A ServiceAccount: of one of Drover's own parts, or of a function. */
export interface ServiceAccountRef {
  readonly namespace: string;
  readonly name: string;
}
