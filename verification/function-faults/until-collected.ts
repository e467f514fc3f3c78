import { setTimeout as delay } from "node:timers/promises";
import { builtin, type KubeClient, type KubeObject, listAll } from "@drover/kube";

const kinds = [builtin.deployment, builtin.replicaSet, builtin.pod] as const;

/** Waits until no ReplicaSet or Pod lacks its owner, and none is being deleted. */
export async function untilCollected(client: KubeClient): Promise<void> {
  for (;;) {
    const found = kinds.map((kind) => listAll(client, kind, { metadataOnly: true }));
    const objects = (await Promise.all(found)).flat();
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    const mustGo = ({ metadata: { deletionTimestamp, ownerReferences = [] } }: KubeObject): boolean =>
      deletionTimestamp !== undefined ||
      (ownerReferences.some(({ kind }) => kind === "Deployment" || kind === "ReplicaSet") &&
        ownerReferences.every(({ uid }) => !uids.has(uid)));
    if (!objects.some(mustGo)) return;
    await delay(20);
  }
}
