import type { ReconcileResult } from "@drover/controller";
import { builtin } from "@drover/kube";
import {
  nextAvailable,
  type Owner,
  type ReplicaSet,
  type ReplicaSetObject,
  replicaSetSchema,
  type WorkloadStep,
} from "@drover/workloads";
import { findPods } from "./find-pods.ts";
import { keepReplicas, type Kept } from "./keep-replicas.ts";
import { statusOf, writeStatus } from "./replica-set-status.ts";

/** A step and its set. */
export interface SetStep extends WorkloadStep<typeof ReplicaSet> {
  readonly set: ReplicaSetObject;
  readonly owner: Owner;
}

/**
 * One run: finds the set's pods, creates or deletes some, and writes the status. A failure is written to the status
 * first, and then the run is repeated: soon if the status is new, because the change may have made room (a quota counts
 * a little later than pods go), and otherwise with backoff.
 */
export async function reconcileReplicaSet(
  step: WorkloadStep<typeof ReplicaSet>,
): Promise<ReconcileResult<typeof ReplicaSet>> {
  const set = replicaSetSchema.parse(step.context.object);
  const { metadata, spec } = set;
  const owner: Owner = { ref: builtin.replicaSet, metadata, selector: spec.selector };
  const setStep: SetStep = { ...step, set, owner };
  const found = await findPods(setStep);
  const kept: Kept = metadata.deletionTimestamp === undefined ? await keepReplicas(setStep, found) : found;
  const now = step.now();
  const status = statusOf(set, kept, now);
  const isNew = await writeStatus(setStep, status);
  if (kept.failure !== undefined) {
    if (isNew) return { requeueAfter: "50ms" };
    throw kept.failure.error;
  }
  if (status.readyReplicas === status.availableReplicas) return {};
  const wait =
    nextAvailable(kept.active, spec.minReadySeconds, now.getTime()) ?? spec.minReadySeconds * 1_000;
  return { requeueAfter: `${Math.ceil(wait)}ms` };
}
