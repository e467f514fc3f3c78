import { setTimeout as delay } from "node:timers/promises";
import {
  builtin,
  isApiError,
  type KubeClient,
  type KubeObject,
  listAll,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import { ChildSet } from "../composed-faults/random-scenario.ts";
import { Job } from "../../functions/job/src/job.ts";
import { Website } from "../../packages/compose/src/website.fixture.ts";

/** The kinds of the scenarios' owners, and of what they own. */
const owners = [
  ...[builtin.deployment, builtin.replicaSet, builtin.service],
  ...[refOf(Job), refOf(Website), refOf(ChildSet)],
];
const kinds = [...owners, builtin.pod, builtin.configMap, builtin.endpointSlice, builtin.secret];

/** The finalizers of the garbage collector: an object with another one waits for its controller. */
const ofCollector = ["foregroundDeletion", "orphan"];

/** Waits until no object lacks its owner, and the garbage collector deletes none. */
export async function untilCollected(client: KubeClient): Promise<void> {
  for (;;) {
    const objects = (await Promise.all(kinds.map((kind) => served(client, kind)))).flat();
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    const mustGo = ({ metadata }: KubeObject): boolean => {
      const { deletionTimestamp, ownerReferences = [], finalizers = [] } = metadata;
      if (deletionTimestamp !== undefined) return finalizers.every((one) => ofCollector.includes(one));
      return (
        ownerReferences.some(({ kind }) => owners.some((owner) => owner.kind === kind)) &&
        ownerReferences.every(({ uid }) => !uids.has(uid))
      );
    };
    if (!objects.some(mustGo)) return;
    await delay(20);
  }
}

/** All objects of a kind; none if a scenario has not installed it. */
const served = (client: KubeClient, kind: ResourceRef): Promise<readonly KubeObject[]> =>
  listAll(client, kind, { metadataOnly: true }).catch((error: unknown) => {
    if (isApiError(error, "NotServed")) return [];
    throw error;
  });
