import type { ObjectKey } from "@drover/controller";
import type { KubeClient, KubeObject, ResourceRef } from "@drover/kube";

/** Whether the object carries the finalizer. */
export const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) ?? false;

/** Which object, as it was read: its version is the precondition of every change to its finalizers. */
export interface FinalizerTarget {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  readonly object: KubeObject;
  readonly finalizer: string;
  readonly signal: AbortSignal;
}

/**
 * Put the finalizer on, before anything outside the cluster is made. Answers the object as it then is.
 * @throws ApiError of kind Conflict when the object has changed since it was read.
 */
export const addFinalizer = (target: FinalizerTarget): Promise<KubeObject> =>
  setFinalizers(target, [...(target.object.metadata.finalizers ?? []), target.finalizer]);

/**
 * Take the finalizer off, after everything outside is undone. Other finalizers stay as they are: the list is replaced
 * only if the object is still the one that was read.
 * @throws ApiError of kind Conflict when the object has changed since it was read.
 */
export const removeFinalizer = (target: FinalizerTarget): Promise<KubeObject> =>
  setFinalizers(
    target,
    (target.object.metadata.finalizers ?? []).filter((name) => name !== target.finalizer),
  );

function setFinalizers({ client, ref, key, object, signal }: FinalizerTarget, finalizers: readonly string[]) {
  const { uid, resourceVersion } = object.metadata;
  return client.patch(
    ref,
    key,
    { type: "merge", body: { metadata: { uid, resourceVersion, finalizers } } },
    { signal },
  );
}
