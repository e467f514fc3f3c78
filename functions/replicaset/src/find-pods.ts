import { builtin, type FindOptions, type KubeObject } from "@drover/kube";
import {
  adoptAndRelease,
  ownershipAction,
  findMatching,
  findStrayed,
  isActive,
  isTerminating,
  listMatching,
  mayRun,
  type Pod,
  podSchema,
} from "@drover/workloads";
import type { ReplicaSetRunContext } from "./replica-set-run-context.ts";

/** The pods of a set. */
export interface SetPods {
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
}

/** Pods that have ended keep their owner, so they are not released. */
const notEnded: FindOptions["fields"] = {
  selector: "status.phase!=Failed,status.phase!=Succeeded",
  holds: (pod) => mayRun(podSchema.parse(pod)),
};

/** Pods that are being deleted keep their owner, too. The selector of a list cannot exclude them. */
const isStaying = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp === undefined;

/** The pods of a set. Adopts orphans and releases pods that no longer match before it returns them. */
export async function findPods(runContext: ReplicaSetRunContext): Promise<SetPods> {
  const { client, owner, context } = runContext;
  const parts = { client, owner, kind: builtin.pod, signal: context.signal };
  const matching = (await findMatching(parts)).map((pod) => podSchema.parse(pod));
  const terminating = matching.filter((pod) => isTerminating(pod) && ownershipAction(owner, pod) === "own");
  const active = await adoptAndRelease(parts, matching.filter(isActive));
  if (isMissingPods(runContext, active.length + terminating.length))
    await adoptAndRelease(parts, (await findStrayed(parts, notEnded)).filter(isStaying));
  return { active, terminating };
}

/** The set's pods that are active in the newest state, from which those to delete are chosen. */
export async function listActivePods({
  client,
  owner,
  context: { signal },
}: ReplicaSetRunContext): Promise<readonly Pod[]> {
  const matching = await listMatching({ client, owner, kind: builtin.pod, signal });
  return matching
    .map((pod) => podSchema.parse(pod))
    .filter((pod) => isActive(pod) && ownershipAction(owner, pod) === "own");
}

/**
 * True if fewer pods were found than the status has, or fewer than the set needs although it had some: one may have
 * been relabelled.
 */
function isMissingPods({ set: { spec, status } }: ReplicaSetRunContext, found: number): boolean {
  const had = status.replicas + (status.terminatingReplicas ?? 0);
  return had > 0 && (found < had || found < spec.replicas);
}
