import type { ObjectKey } from "@drover/controller";
import type { KubeClient, KubeObject, ResourceRef } from "@drover/kube";

/** True if the object has the finalizer. */
export const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) ?? false;

/** An object as it was read. Its version is the precondition of every change to its finalizers. */
export interface FinalizerTarget {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  readonly key: ObjectKey;
  readonly object: KubeObject;
  readonly finalizer: string;
  readonly signal?: AbortSignal;
}

/**
 * Adds the finalizer, before anything outside the cluster is created. Returns the object after the change.
 * @throws ApiError of kind Conflict if the object has changed since it was read.
 */
export const addFinalizer = (target: FinalizerTarget): Promise<KubeObject> =>
  setFinalizers(target, [...(target.object.metadata.finalizers ?? []), target.finalizer]);

/**
 * Removes the finalizer, after everything outside the cluster is undone. Other finalizers stay: the list is replaced
 * only if the object has not changed since it was read.
 * @throws ApiError of kind Conflict if the object has changed since it was read.
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
    signal && { signal },
  );
}
