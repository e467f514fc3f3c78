import { functionSelector } from "@drover/controller";
import { builtin, keyOf, listAll, type ResourceRef } from "@drover/kube";
import type { FunctionObject } from "../objects/function-object.ts";
import { deleteOwnedObject } from "../objects/apply-object.ts";
import type { DeployRunContext } from "../run-context.ts";

/** Bindings first: without them the Roles grant nothing. */
export const roleKinds: readonly ResourceRef[] = [
  ...[builtin.clusterRoleBinding, builtin.roleBinding],
  ...[builtin.clusterRole, builtin.role],
];

/**
 * Deletes a function's Roles, ClusterRoles and bindings of these names that it no longer needs, in all namespaces, also
 * in those that its spec no longer names. They cannot have an owner reference to the function, so nothing else deletes
 * them.
 *
 * @param names undefined: of any name.
 * @param kept the objects that it needs.
 */
export async function deleteStaleRoles(
  { client, functionRef, context: { signal } }: Pick<DeployRunContext, "client" | "functionRef" | "context">,
  names: readonly string[] | undefined,
  kept: readonly FunctionObject[] = [],
): Promise<void> {
  const idOf = (ref: ResourceRef, object: FunctionObject["object"]): string =>
    `${ref.plural} ${keyOf(object)}`;
  const needed = new Set(kept.flatMap(({ ref, object, wanted }) => (wanted ? [idOf(ref, object)] : [])));
  for (const ref of roleKinds) {
    const labelSelector = functionSelector(functionRef);
    for (const object of await listAll(client, ref, { labelSelector, metadataOnly: true, signal })) {
      if (names?.includes(object.metadata.name) === false || needed.has(idOf(ref, object))) continue;
      await deleteOwnedObject({ client, signal, owner: functionRef }, ref, object);
    }
  }
}
