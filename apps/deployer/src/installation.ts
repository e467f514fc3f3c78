import { type Log, objectKey } from "@drover/controller";
import { builtin, isApiError, keyOf, type KubeClient, listAll } from "@drover/kube";
import { z } from "zod";
import type { FunctionObject } from "./function-objects.ts";
import { type Home, ownedInCluster } from "./home.ts";

/** The Namespace in which Drover is installed, as the owner of objects in any namespace, and in none. */
export type Installation = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};

/** @returns undefined where there is no such Namespace, as in a sandbox. */
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
 * Bindings, and all that is outside of the function's namespace, are owned by Drover's own Namespace: with it the garbage
 * collector takes them away, so that nobody is left with rights that no deployer reviews any more. The other objects are
 * owned by the function.
 */
export const ownedByInstallation = (
  objects: readonly FunctionObject[],
  home: Home,
  owner: Installation | undefined,
): readonly FunctionObject[] =>
  owner === undefined
    ? objects
    : objects.map((one) => {
        const { ref, object } = one;
        const { name, namespace, labels } = object.metadata;
        if (!isBinding(ref) && namespace === home.namespace) return one;
        const metadata = {
          ...ownedInCluster(home, name, labels),
          ...(namespace !== undefined && { namespace }),
          ownerReferences: [owner],
        };
        return { ...one, object: { ...object, metadata } };
      });

const isBinding = ({ kind }: FunctionObject["ref"]): boolean =>
  kind === builtin.roleBinding.kind || kind === builtin.clusterRoleBinding.kind;

/** The label of the ClusterRoleBindings of Drover's own accounts, as `deploy/rbac.yaml` has it. */
const partLabel = "app.kubernetes.io/part-of=drover";
const bindingSchema = z.looseObject({
  subjects: z.array(z.looseObject({ namespace: z.string().optional() })),
});

/** The ClusterRoleBindings of bridge, deployer and gateway go with their Namespace, too: whoever made it again would have them. */
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
      // Another deployer is at it.
      if (isApiError(error, "Conflict", "NotFound")) continue;
      throw error;
    }
    log.info({ binding: binding.metadata.name }, "A ClusterRoleBinding goes with the Namespace from now on");
  }
}
