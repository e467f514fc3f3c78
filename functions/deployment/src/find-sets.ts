import { builtin } from "@drover/kube";
import {
  claim,
  findMatching,
  findStrayed,
  isControlledBy,
  mayRun,
  podSchema,
  type ReplicaSetObject,
  replicaSetSchema,
} from "@drover/workloads";
import type { DeploymentStep } from "./reconcile-deployment.ts";
import { isSameTemplate } from "./template.ts";

/** The sets of a Deployment in their newest state, after it has adopted orphans and released what no longer matches. */
export async function findSets(step: DeploymentStep): Promise<readonly ReplicaSetObject[]> {
  const { client, owner, context, deployment } = step;
  const parts = { client, owner, kind: builtin.replicaSet, signal: context.signal };
  const matching = (await findMatching(parts)).map((set) => replicaSetSchema.parse(set));
  const sets = await claim(parts, matching);
  if (misses(deployment, sets)) await claim(parts, await findStrayed(parts, matching));
  return sets;
}

/** Pods that it told of are of no set here, or the set that it is at is not here: one may have been relabelled. */
function misses(
  { metadata, spec, status }: DeploymentStep["deployment"],
  sets: readonly ReplicaSetObject[],
): boolean {
  const replicas = sets.reduce((sum, set) => sum + set.status.replicas, 0);
  const isCurrent = status.observedGeneration === metadata.generation;
  const hasNewest = sets.some((set) => isSameTemplate(set.spec.template, spec.template));
  return replicas < status.replicas || (isCurrent && !hasNewest && !spec.paused);
}

/** Whether a pod of the sets of other templates may still run: asked only of a Deployment that waits for that. */
export async function oldPodsMayRun(
  { client, owner, context, deployment }: DeploymentStep,
  sets: readonly ReplicaSetObject[],
): Promise<boolean> {
  const { strategy, template, replicas, paused } = deployment.spec;
  const newest = sets.find((set) => isSameTemplate(set.spec.template, template));
  const old = sets.filter((set) => set !== newest);
  const isWaiting = strategy.type === "Recreate" && !paused && newest?.spec.replicas !== replicas;
  if (!isWaiting || old.length === 0) return false;
  if (old.some(({ spec, status }) => spec.replicas > 0 || status.replicas > 0)) return true;
  const { signal } = context;
  const found = await findMatching({ client, owner, kind: builtin.pod, signal });
  return found.some(
    (pod) =>
      old.some(({ metadata }) => isControlledBy(pod.metadata, metadata)) && mayRun(podSchema.parse(pod)),
  );
}
