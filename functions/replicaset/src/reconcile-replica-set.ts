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

/** A step, and the set that it is about. */
export interface SetStep extends WorkloadStep<typeof ReplicaSet> {
  readonly set: ReplicaSetObject;
  readonly owner: Owner;
}

/**
 * One run: whose pods there are, as many as asked for, and what is said of it. What could not be made or deleted is said
 * in the status first, and then tried again: soon where the status says something new, since what has changed may have
 * made room (a quota counts a little later than pods go); else with backoff.
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
