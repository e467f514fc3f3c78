import { finalizerOf } from "@drover/controller";
import { isApiError, keyOf, type KubeClient, type KubeObject, listAll, type ResourceRef } from "@drover/kube";

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

export const hasFinalizer = ({ metadata }: KubeObject, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) ?? false;

/**
 * Adds or removes a finalizer, also while others write the object; or does nothing if the object is gone.
 *
 * @param object as it was read last.
 */
export async function setFinalizer(
  client: KubeClient,
  ref: ResourceRef,
  object: KubeObject,
  { finalizer, isOn }: { readonly finalizer: string; readonly isOn: boolean },
): Promise<void> {
  const { uid } = object.metadata;
  let now: KubeObject | undefined = object;
  while (now?.metadata.uid === uid) {
    if (hasFinalizer(now, finalizer) === isOn) return;
    const { finalizers = [], resourceVersion } = now.metadata;
    const others = finalizers.filter((one) => one !== finalizer);
    const metadata = { uid, resourceVersion, finalizers: isOn ? [...others, finalizer] : others };
    try {
      await client.patch(ref, keyOf(object), { type: "merge", body: { metadata } });
      return;
    } catch (error) {
      if (!isApiError(error, "Conflict", "NotFound")) throw error;
      now = await client.get(ref, keyOf(object));
    }
  }
}
