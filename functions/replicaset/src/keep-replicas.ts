import { builtin, listAll } from "@drover/kube";
import {
  controllerOf,
  createPods,
  deletePods,
  inDeletionOrder,
  isControlledBy,
  isOfEndingNamespace,
  isStillThere,
  listMatching,
  mostAtOnce,
  type Pod,
  podSchema,
  replicaSetSchema,
} from "@drover/workloads";
import { activePodsNow, type SetPods } from "./find-pods.ts";
import type { SetStep } from "./reconcile-replica-set.ts";

/** The pods after creations and deletions, and the failure of one of these, if any. */
export interface Kept extends SetPods {
  readonly failure?: { readonly reason: "FailedCreate" | "FailedDelete"; readonly error: unknown };
}

/** Creates pods that are missing, or deletes surplus ones: at most 500 in one run. */
export async function keepReplicas(step: SetStep, found: SetPods): Promise<Kept> {
  const { replicas } = step.set.spec;
  const missing = replicas - found.active.length;
  if (missing > 0) return makeMissing(step, found, Math.min(missing, mostAtOnce));
  if (missing === 0) return found;
  // The order in which pods are deleted may have changed without a wake.
  const active = await activePodsNow(step);
  const surplus = Math.max(0, active.length - replicas);
  return deleteSurplus(step, { ...found, active }, Math.min(surplus, mostAtOnce));
}

async function makeMissing(step: SetStep, found: SetPods, count: number): Promise<Kept> {
  if (!(await isStillWanted(step))) return found;
  const { active, terminating } = found;
  const seen = [...active, ...terminating];
  const { done, refused } = await createPods(controlOf(step), step.set.spec.template, { count, seen });
  // In a namespace that is being deleted no pod can be created, and none is needed.
  if (isOfEndingNamespace(refused?.reason)) return found;
  const isThere = (pod: Pod): boolean => active.some(({ metadata }) => metadata.uid === pod.metadata.uid);
  const made = done.filter((pod) => !isThere(pod));
  return {
    active: [...active, ...made],
    terminating,
    ...(refused && { failure: { reason: "FailedCreate", error: refused.reason } }),
  };
}

/**
 * Checks that the set still exists before pods are created. If pods are missing that it had, the set may have been
 * deleted, and its pods with it: the run's copy of the set may be older than those of its pods. For the same reason
 * client-go's controllers read the owner once more before they adopt an object.
 */
async function isStillWanted({ client, owner, set, context: { signal } }: SetStep): Promise<boolean> {
  return set.status.replicas === 0 || isStillThere({ client, owner, signal });
}

async function deleteSurplus(step: SetStep, { active, terminating }: SetPods, count: number): Promise<Kept> {
  const goers = count < active.length ? await leastMissed(step, active) : active;
  const { done, refused } = await deletePods(controlOf(step), goers.slice(0, count));
  const gone = new Set(done.map(({ metadata }) => metadata.uid));
  // A pod on a node takes time to end.
  const ending = done.filter(({ spec }) => spec.nodeName !== undefined);
  return {
    active: active.filter(({ metadata }) => !gone.has(metadata.uid)),
    terminating: [...terminating, ...ending],
    ...(refused && { failure: { reason: "FailedDelete", error: refused.reason } }),
  };
}

async function leastMissed(step: SetStep, active: readonly Pod[]): Promise<readonly Pod[]> {
  const related = await podsOfSiblings(step);
  return inDeletionOrder(active, [...active, ...related], step.now().getTime());
}

/** The pods of the other sets of the same controller, such as those of a Deployment's other revisions. */
async function podsOfSiblings({ client, owner, context: { signal } }: SetStep): Promise<readonly Pod[]> {
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

const controlOf = ({ client, owner, context: { announce, signal } }: SetStep) => ({
  client,
  owner,
  announce,
  signal,
});
