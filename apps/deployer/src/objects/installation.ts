import { type Log, objectKey } from "@drover/controller";
import { builtin, isApiError, keyOf, type KubeClient, listAll } from "@drover/kube";
import { z } from "zod";
import type { FunctionObject } from "./function-object.ts";
import { type FunctionRef, ownedClusterMetadata } from "../function-ref.ts";

/**
 * The Namespace in which Drover is installed, as an owner. It is cluster-scoped, so it may own objects of all
 * namespaces.
 */
export type Installation = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};

/** @returns undefined if the Namespace does not exist, as in a sandbox. */
export async function installationOf(
  client: KubeClient,
  namespace: string,
): Promise<Installation | undefined> {
  const object = await client.get(builtin.namespace, objectKey({ name: namespace }));
  return (
    object && { apiVersion: "v1", kind: builtin.namespace.kind, name: namespace, uid: object.metadata.uid }
  );
}

/**
 * Makes Drover's own Namespace the owner of bindings, and of all objects outside the function's namespace. The garbage
 * collector deletes them with it, so that no account keeps permissions that no deployer reviews any more. The function
 * owns the other objects.
 */
export const ownedByInstallation = (
  objects: readonly FunctionObject[],
  functionRef: FunctionRef,
  owner: Installation | undefined,
): readonly FunctionObject[] =>
  owner === undefined
    ? objects
    : objects.map((one) => {
        const { ref, object } = one;
        const { name, namespace, labels } = object.metadata;
        if (!isBinding(ref) && namespace === functionRef.namespace) return one;
        const metadata = {
          ...ownedClusterMetadata(functionRef, name, labels),
          ...(namespace !== undefined && { namespace }),
          ownerReferences: [owner],
        };
        return { ...one, object: { ...object, metadata } };
      });

const isBinding = ({ kind }: FunctionObject["ref"]): boolean =>
  kind === builtin.roleBinding.kind || kind === builtin.clusterRoleBinding.kind;

/** The label of the ClusterRoleBindings of Drover's own accounts, as in `deploy/rbac.yaml`. */
const partLabel = "app.kubernetes.io/part-of=drover";
const bindingSchema = z.looseObject({
  subjects: z.array(z.looseObject({ namespace: z.string().optional() })),
});

/**
 * Makes the Namespace own the ClusterRoleBindings of bridge, deployer and gateway, too. If they stayed without it, a
 * user that creates a Namespace of that name would get their permissions.
 */
export async function adoptBindings(client: KubeClient, owner: Installation, log: Log): Promise<void> {
  const bindings = await listAll(client, builtin.clusterRoleBinding, { labelSelector: partLabel });
  for (const binding of bindings) {
    const { data: { subjects } = { subjects: [] } } = bindingSchema.safeParse(binding);
    const { ownerReferences = [], uid, resourceVersion } = binding.metadata;
    const isOfParts = subjects.length > 0 && subjects.every(({ namespace }) => namespace === owner.name);
    if (!isOfParts || ownerReferences.some((one) => one.uid === owner.uid)) continue;
    const body = { metadata: { uid, resourceVersion, ownerReferences: [owner] } };
    try {
      await client.patch(builtin.clusterRoleBinding, keyOf(binding), { type: "merge", body });
    } catch (error) {
      // Another deployer is doing the same.
      if (isApiError(error, "Conflict", "NotFound")) continue;
      throw error;
    }
    log.info({ binding: binding.metadata.name }, "Made the Namespace the owner of a ClusterRoleBinding");
  }
}
