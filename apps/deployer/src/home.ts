import { type ObjectMetadata, ReconcileFunction } from "@drover/controller";
import { ownerAnnotation } from "./keep-object.ts";
import { functionLabel } from "./names.ts";

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

/** The owner that the function's objects name: they go when it goes. */
export const ownedBy = ({ name, namespace, uid }: Home) => ({
  namespace,
  labels: { [functionLabel]: name },
  ownerReferences: [
    {
      ...{ apiVersion: ReconcileFunction.apiVersion, kind: ReconcileFunction.kind, name, uid },
      ...{ controller: true, blockOwnerDeletion: true },
    },
  ],
});

/** The same for what is in no namespace, and so can have no owner there. */
export const ownedInCluster = (
  { name: of, uid }: Home,
  name: string,
  labels: Readonly<Record<string, string>> = {},
) => ({
  name,
  labels: { [functionLabel]: of, ...labels },
  annotations: { [ownerAnnotation]: uid },
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
