import { builtin } from "@drover/kube";
import {
  claim,
  findMatching,
  findStrayed,
  isControlledBy,
  listMatching,
  mayRun,
  podSchema,
  type ReplicaSetObject,
  replicaSetSchema,
} from "@drover/workloads";
import type { Draft } from "./draft.ts";
import type { DeploymentStep } from "./reconcile-deployment.ts";
import { newSetOf, oldSetsOf } from "./newest-set.ts";

/** The sets of a Deployment, after it has adopted orphans and released what no longer matches. */
export async function findSets(step: DeploymentStep): Promise<readonly ReplicaSetObject[]> {
  const matching = await findMatching(partsOf(step));
  const found = await claim(
    partsOf(step),
    matching.map((set) => replicaSetSchema.parse(set)),
  );
  const replicas = found.reduce((sum, { status }) => sum + status.replicas, 0);
  if (found.length === 0 || replicas < step.deployment.status.replicas) await releaseStrayed(step);
  return found;
}

/**
 * Releases the sets whose labels no longer match. They are not among those that a run lists, and are looked for when there
 * are none, or fewer replicas than the Deployment told of last; and for the sake of those without any, by a run that need not expect
 * another one: something must have woken it.
 */
export async function releaseStrayed(step: DeploymentStep): Promise<void> {
  await claim(partsOf(step), await findStrayed(partsOf(step)));
}

const partsOf = ({ client, owner, context: { signal } }: DeploymentStep) => ({
  client,
  owner,
  kind: builtin.replicaSet,
  signal,
});

/** Whether a pod of the sets of other templates may still run: asked only of a Deployment that waits for that. */
export async function oldPodsMayRun(
  { client, owner, context: { signal } }: DeploymentStep,
  draft: Draft,
): Promise<boolean> {
  const { strategy, replicas, paused } = draft.deployment.spec;
  const old = oldSetsOf(draft).map(({ set }) => set);
  const isWaiting = strategy.type === "Recreate" && !paused && newSetOf(draft)?.replicas !== replicas;
  if (!isWaiting || old.length === 0) return false;
  if (old.some(({ spec, status }) => spec.replicas > 0 || status.replicas > 0)) return true;
  const found = await listMatching({ client, owner, kind: builtin.pod, signal });
  return found.some(
    (pod) =>
      old.some(({ metadata }) => isControlledBy(pod.metadata, metadata)) && mayRun(podSchema.parse(pod)),
  );
}
