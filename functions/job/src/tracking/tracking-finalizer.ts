import type { ObjectClient } from "@drover/controller";
import { builtin, isApiError, keyOf, type KubeObject } from "@drover/kube";
import { allAtOnce, type BatchResult } from "@drover/workloads";
import { trackingFinalizer } from "../job.ts";

interface Requests {
  readonly client: ObjectClient;
  readonly signal: AbortSignal;
}

/** Removes the finalizer from pods that have it. A pod that is gone counts as done. */
export const removeFinalizers = <Object extends KubeObject>(
  requests: Requests,
  pods: readonly Object[],
): Promise<BatchResult<Object>> =>
  allAtOnce(pods, async (pod) => {
    await removeFinalizer(requests, pod);
    return pod;
  });

/** The same for one pod. It is read again if its finalizers are others by now. */
export async function removeFinalizer(requests: Requests, pod: KubeObject): Promise<void> {
  const { client, signal } = requests;
  try {
    await removeAt(requests, pod);
  } catch (error) {
    if (isApiError(error, "NotFound")) return;
    if (!isApiError(error, "Invalid")) throw error;
    const now = await client.get(builtin.pod, keyOf(pod), { signal });
    if (now?.metadata.uid === pod.metadata.uid) await removeAt(requests, now);
  }
}

/** A patch of the list as a whole would undo what others do with their finalizers at the same time. */
async function removeAt({ client, signal }: Requests, { metadata }: KubeObject): Promise<void> {
  const at = (metadata.finalizers ?? []).indexOf(trackingFinalizer);
  if (at < 0) return;
  const path = `/metadata/finalizers/${at}`;
  const body = [
    { op: "test", path: "/metadata/uid", value: metadata.uid },
    { op: "test", path, value: trackingFinalizer },
    { op: "remove", path },
  ] as const;
  await client.patch(builtin.pod, keyOf({ metadata }), { type: "json", body }, { signal });
}
