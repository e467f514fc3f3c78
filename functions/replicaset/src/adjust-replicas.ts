import { builtin, controllerOf, isControlledBy, listAll } from "@drover/kube";
import {
  createPods,
  deletePods,
  inDeletionOrder,
  isNamespaceTerminating,
  isOwnerAlive,
  listMatching,
  burstReplicas,
  type Pod,
  podControlOf,
  podSchema,
  replicaSetSchema,
} from "@drover/workloads";
import { listActivePods, type SetPods } from "./find-pods.ts";
import type { ReplicaSetRunContext } from "./replica-set-run-context.ts";

/** The pods after creations and deletions, and the failure of one of these, if any. */
export interface ReplicasResult extends SetPods {
  readonly failure?: { readonly reason: "FailedCreate" | "FailedDelete"; readonly error: unknown };
}

/** Creates pods that are missing, or deletes surplus ones: at most 500 in one run. */
export async function adjustReplicas(
  runContext: ReplicaSetRunContext,
  found: SetPods,
): Promise<ReplicasResult> {
  const { replicas } = runContext.set.spec;
  const missing = replicas - found.active.length;
  if (missing > 0) return createMissing(runContext, found, Math.min(missing, burstReplicas));
  if (missing === 0) return found;
  // The order in which pods are deleted may have changed without a wake.
  const active = await listActivePods(runContext);
  const surplus = Math.max(0, active.length - replicas);
  return deleteSurplus(runContext, { ...found, active }, Math.min(surplus, burstReplicas));
}

async function createMissing(
  runContext: ReplicaSetRunContext,
  found: SetPods,
  count: number,
): Promise<ReplicasResult> {
  if (!(await isStillWanted(runContext))) return found;
  const { active, terminating } = found;
  const seen = [...active, ...terminating];
  const { done, firstFailure } = await createPods(podControlOf(runContext), runContext.set.spec.template, {
    count,
    seen,
  });
  // In a namespace that is being deleted no pod can be created, and none is needed.
  if (isNamespaceTerminating(firstFailure?.reason)) return found;
  const isThere = (pod: Pod): boolean => active.some(({ metadata }) => metadata.uid === pod.metadata.uid);
  const made = done.filter((pod) => !isThere(pod));
  return {
    active: [...active, ...made],
    terminating,
    ...(firstFailure && { failure: { reason: "FailedCreate", error: firstFailure.reason } }),
  };
}

/**
 * Checks that the set still exists before pods are created. If pods are missing that it had, the set may have been
 * deleted, and its pods with it: the run's copy of the set may be older than those of its pods. For the same reason
 * client-go's controllers read the owner once more before they adopt an object.
 */
async function isStillWanted({
  client,
  owner,
  set,
  context: { signal },
}: ReplicaSetRunContext): Promise<boolean> {
  return set.status.replicas === 0 || isOwnerAlive({ client, owner, signal });
}

async function deleteSurplus(
  runContext: ReplicaSetRunContext,
  { active, terminating }: SetPods,
  count: number,
): Promise<ReplicasResult> {
  const goers = count < active.length ? await sortForDeletion(runContext, active) : active;
  const { done, firstFailure } = await deletePods(podControlOf(runContext), goers.slice(0, count));
  const gone = new Set(done.map(({ metadata }) => metadata.uid));
  // A pod on a node takes time to end.
  const ending = done.filter(({ spec }) => spec.nodeName !== undefined);
  return {
    active: active.filter(({ metadata }) => !gone.has(metadata.uid)),
    terminating: [...terminating, ...ending],
    ...(firstFailure && { failure: { reason: "FailedDelete", error: firstFailure.reason } }),
  };
}

async function sortForDeletion(
  runContext: ReplicaSetRunContext,
  active: readonly Pod[],
): Promise<readonly Pod[]> {
  const related = await podsOfSiblings(runContext);
  return inDeletionOrder(active, [...active, ...related], runContext.now().getTime());
}

/** The pods of the other sets of the same controller, such as those of a Deployment's other revisions. */
async function podsOfSiblings({
  client,
  owner,
  context: { signal },
}: ReplicaSetRunContext): Promise<readonly Pod[]> {
  const controller = controllerOf(owner.metadata);
  if (controller === undefined) return [];
  const { namespace } = owner.metadata;
  const sets = await listAll(client, builtin.replicaSet, { namespace, signal });
  const siblings = sets
    .filter(({ metadata }) => isControlledBy(metadata, controller) && metadata.uid !== owner.metadata.uid)
    .map((set) => replicaSetSchema.parse(set))
    .filter(({ status }) => status.replicas > 0);
  const pods = siblings.map(({ metadata, spec: { selector } }) =>
    listMatching({
      client,
      owner: { ref: builtin.replicaSet, metadata, selector },
      kind: builtin.pod,
      signal,
    }),
  );
  return (await Promise.all(pods)).flat().map((pod) => podSchema.parse(pod));
}
