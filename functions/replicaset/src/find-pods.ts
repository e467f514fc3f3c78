import { builtin } from "@drover/kube";
import {
  claim,
  claimOf,
  findMatching,
  findStrayed,
  isActive,
  isTerminating,
  type Pod,
  podSchema,
} from "@drover/workloads";
import type { SetStep } from "./reconcile-replica-set.ts";

/** The pods of a set. */
export interface SetPods {
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
}

/** Those that have ended stay whose they are. */
const notEnded = "status.phase!=Failed,status.phase!=Succeeded";

/** Its pods in the newest state, after it has adopted orphans and released what no longer matches. */
export async function findPods(step: SetStep): Promise<SetPods> {
  const { client, owner, context } = step;
  const parts = { client, owner, kind: builtin.pod, signal: context.signal };
  const matching = (await findMatching(parts)).map((pod) => podSchema.parse(pod));
  const terminating = matching.filter((pod) => isTerminating(pod) && claimOf(owner, pod) === "own");
  const active = await claim(parts, matching.filter(isActive));
  if (misses(step, active.length + terminating.length))
    await claim(parts, await findStrayed(parts, notEnded));
  return { active, terminating };
}

/** Fewer than it said last, or fewer than it needs although it had some: one may have been relabelled. */
function misses({ set: { spec, status } }: SetStep, found: number): boolean {
  const had = status.replicas + (status.terminatingReplicas ?? 0);
  return had > 0 && (found < had || found < spec.replicas);
}
