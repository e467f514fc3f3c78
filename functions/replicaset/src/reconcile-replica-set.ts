import type { ReconcileResult } from "@drover/controller";
import { builtin } from "@drover/kube";
import {
  nextAvailable,
  type Owner,
  type ReplicaSet,
  replaceStatus,
  replicaSetSchema,
  requeueIn,
  type WorkloadRunContext,
} from "@drover/workloads";
import { findPods } from "./find-pods.ts";
import { adjustReplicas, type ReplicasResult } from "./adjust-replicas.ts";
import { replicaSetStatus } from "./replica-set-status.ts";
import type { ReplicaSetRunContext } from "./replica-set-run-context.ts";

/**
 * One run: finds the set's pods, creates or deletes some, and writes the status. A failure is written to the status
 * first, and then the run is repeated: soon if the status is new, because the change may have made room (a quota counts
 * a little later than pods go), and otherwise with backoff.
 */
export async function reconcileReplicaSet(
  runContext: WorkloadRunContext<typeof ReplicaSet>,
): Promise<ReconcileResult<typeof ReplicaSet>> {
  const set = replicaSetSchema.parse(runContext.context.object);
  const { metadata, spec } = set;
  const owner: Owner = { ref: builtin.replicaSet, metadata, selector: spec.selector };
  const replicaSetContext: ReplicaSetRunContext = { ...runContext, set, owner };
  const found = await findPods(replicaSetContext);
  const kept: ReplicasResult =
    metadata.deletionTimestamp === undefined ? await adjustReplicas(replicaSetContext, found) : found;
  const now = runContext.now();
  const status = replicaSetStatus(set, kept, now);
  const isNew = (await replaceStatus(runContext, builtin.replicaSet, set, status)) !== undefined;
  if (kept.failure !== undefined) {
    if (isNew) return { requeueAfter: "50ms" };
    throw kept.failure.error;
  }
  if (status.readyReplicas === status.availableReplicas) return {};
  const wait =
    nextAvailable(kept.active, spec.minReadySeconds, now.getTime()) ?? spec.minReadySeconds * 1_000;
  return requeueIn(wait, 1);
}
