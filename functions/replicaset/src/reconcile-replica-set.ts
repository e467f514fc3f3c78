import type { ReconcileContext, ReconcileResult } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import {
  nextAvailable,
  type Owner,
  type ReplicaSet,
  type ReplicaSetObject,
  replicaSetSchema,
} from "@drover/workloads";
import { findPods } from "./find-pods.ts";
import { keepReplicas, nothingKept } from "./keep-replicas.ts";
import { statusOf, writeStatus } from "./replica-set-status.ts";

/** What all steps of a run share. */
export interface Step {
  /** It writes only while the run holds its key. */
  readonly client: KubeClient;
  readonly now: () => Date;
  readonly context: ReconcileContext<typeof ReplicaSet>;
}

/** A step, and the set that it is about. */
export interface SetStep extends Step {
  readonly set: ReplicaSetObject;
  readonly owner: Owner;
}

/**
 * One run: whose pods there are, as many as asked for, and what is said of it. What could not be made or deleted is said
 * in the status first, and then tried again with backoff.
 */
export async function reconcileReplicaSet(step: Step): Promise<ReconcileResult<typeof ReplicaSet>> {
  const set = replicaSetSchema.parse(step.context.object);
  const { metadata, spec } = set;
  const owner: Owner = { ref: builtin.replicaSet, metadata, selector: spec.selector };
  const setStep: SetStep = { ...step, set, owner };
  const found = await findPods(setStep);
  const kept =
    metadata.deletionTimestamp === undefined
      ? await keepReplicas(setStep, found)
      : { ...nothingKept, ...found };
  const now = step.now();
  const status = statusOf(set, kept, now);
  await writeStatus(setStep, status);
  if (kept.failed) throw kept.failure;
  if (status.readyReplicas === status.availableReplicas) return {};
  const wait =
    nextAvailable(kept.active, spec.minReadySeconds, now.getTime()) ?? spec.minReadySeconds * 1_000;
  return { requeueAfter: `${Math.ceil(wait)}ms` };
}
