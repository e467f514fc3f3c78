import { builtin, isControlledBy } from "@drover/kube";
import {
  adoptAndRelease,
  findMatching,
  findStrayed,
  listMatching,
  mayRun,
  podSchema,
  type ReplicaSetObject,
  replicaSetSchema,
} from "@drover/workloads";
import type { Draft } from "./draft.ts";
import type { DeploymentRunContext } from "./deployment-run-context.ts";
import { newSetOf, oldSetsOf } from "./rollout/find-new-set.ts";

/** The sets of a Deployment. Adopts orphans and releases sets that no longer match before it returns them. */
export async function findSets(runContext: DeploymentRunContext): Promise<readonly ReplicaSetObject[]> {
  const matching = await findMatching(ownershipOptionsOf(runContext));
  const found = await adoptAndRelease(
    ownershipOptionsOf(runContext),
    matching.map((set) => replicaSetSchema.parse(set)),
  );
  const replicas = found.reduce((sum, { status }) => sum + status.replicas, 0);
  if (found.length === 0 || replicas < runContext.deployment.status.replicas)
    await releaseStraySets(runContext);
  return found;
}

/**
 * Releases the sets with labels that no longer match. A run's list does not contain them. A run looks for them if its
 * list has no sets, or fewer replicas than the Deployment's status. Stray sets without replicas do not show in that
 * count, so a run also looks for them if it expects no further run: something must have woken it.
 */
export async function releaseStraySets(runContext: DeploymentRunContext): Promise<void> {
  await adoptAndRelease(ownershipOptionsOf(runContext), await findStrayed(ownershipOptionsOf(runContext)));
}

const ownershipOptionsOf = ({ client, owner, context: { signal } }: DeploymentRunContext) => ({
  client,
  owner,
  kind: builtin.replicaSet,
  signal,
});

/** True if a pod of the sets of other templates may still run. False for a Deployment that does not wait for that. */
export async function oldPodsMayRun(
  { client, owner, context: { signal } }: DeploymentRunContext,
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
