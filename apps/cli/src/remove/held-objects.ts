import { finalizerOf } from "@drover/controller";
import { isApiError, keyOf, type KubeClient, type KubeObject, listAll, type ResourceRef } from "@drover/kube";
import { hasFinalizer, removeFinalizer } from "@drover/runtime";

/** The objects that have the finalizer of a function. */
export interface Held {
  readonly ref: ResourceRef;
  /** Empty: of all namespaces. */
  readonly namespaces: readonly string[];
  readonly finalizer: string;
}

/** The objects of a kind that a function of this name has put its finalizer on. */
export const heldBy = (functionName: string, ref: ResourceRef, namespaces: readonly string[] = []): Held => ({
  ref,
  namespaces,
  finalizer: finalizerOf(functionName),
});

/** Reads their metadata. There are none if the CRD of their kind was deleted. */
export async function heldObjects(
  client: KubeClient,
  { ref, namespaces, finalizer }: Held,
): Promise<readonly KubeObject[]> {
  const places = namespaces.length === 0 ? [undefined] : namespaces;
  const lists = places.map((namespace) => listAll(client, ref, { namespace, metadataOnly: true }));
  const all = await Promise.all(lists).catch(async (error: unknown) => {
    if (isApiError(error, "NotServed") && !(await client.isServed(ref))) return [];
    throw error;
  });
  return all.flat().filter((object) => hasFinalizer(object, finalizer));
}

/** So many requests at once. */
const width = 20;

/** Calls `act` for each object, some at once. */
export async function forEachObject(
  objects: readonly KubeObject[],
  act: (object: KubeObject) => Promise<unknown>,
): Promise<void> {
  const left = objects.values();
  const actInTurn = async (): Promise<void> => {
    for (const object of left) await act(object);
  };
  await Promise.all(Array.from({ length: width }, actInTurn));
}

/** Deletes an object, unless another one of its name has taken its place. */
export async function deleteSame(client: KubeClient, ref: ResourceRef, object: KubeObject): Promise<void> {
  try {
    await client.delete(ref, keyOf(object), { uid: object.metadata.uid });
  } catch (error) {
    if (!isApiError(error, "Conflict")) throw error;
  }
}

/** Removes the finalizer from an object. False if the object has changed or is gone: it is listed again. */
export async function releaseObject(
  client: KubeClient,
  { ref, finalizer }: Pick<Held, "ref" | "finalizer">,
  object: KubeObject,
): Promise<boolean> {
  try {
    await removeFinalizer({ client, ref, key: keyOf(object), object, finalizer });
    return true;
  } catch (error) {
    if (!isApiError(error, "Conflict", "NotFound")) throw error;
    return false;
  }
}
