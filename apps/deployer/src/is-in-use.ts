import { ReconcileFunction, RetryAfterError } from "@drover/controller";
import { keyOf, type KubeClient, listAll, oldestFirst, refOf } from "@drover/kube";
import { nameTaken } from "@drover/runtime";

/**
 * Of several functions of one name the oldest is in use, as the bridge has it: they would share one queue, and with it
 * what Redis says about its objects.
 *
 * @throws RetryAfterError for the others.
 */
export async function refuseUnlessInUse(
  client: KubeClient,
  {
    metadata,
  }: { readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string } },
  signal: AbortSignal,
): Promise<void> {
  const named = await listAll(client, refOf(ReconcileFunction), {
    fieldSelector: `metadata.name=${metadata.name}`,
    metadataOnly: true,
    signal,
  });
  const [oldest] = oldestFirst(named);
  if (oldest === undefined || oldest.metadata.uid === metadata.uid) return;
  throw new RetryAfterError(nameTaken(metadata.name, keyOf(oldest)), { after: "1m", reason: "NameTaken" });
}
