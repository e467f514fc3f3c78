import { ReconcileFunction, RetryAfterError } from "@drover/controller";
import { keyOf, type KubeClient, refOf } from "@drover/kube";

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
  const { items } = await client.list(refOf(ReconcileFunction), {
    fieldSelector: `metadata.name=${metadata.name}`,
    metadataOnly: true,
    signal,
  });
  const [oldest] = items
    .map((item) => ({ item, born: `${item.metadata.creationTimestamp ?? ""} ${keyOf(item)}` }))
    .sort((a, b) => (a.born < b.born ? -1 : 1));
  if (oldest === undefined || oldest.item.metadata.uid === metadata.uid) return;
  const holder = keyOf(oldest.item);
  throw new RetryAfterError(
    `The controller's name ${metadata.name} is taken by ${holder}. Rename or remove one of them.`,
    { after: "1m", reason: "NameTaken" },
  );
}
