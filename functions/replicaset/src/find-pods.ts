import { builtin, type FindOptions, type KubeObject } from "@drover/kube";
import {
  claim,
  claimOf,
  findMatching,
  findStrayed,
  isActive,
  isTerminating,
  listMatching,
  mayRun,
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
const notEnded: FindOptions["fields"] = {
  selector: "status.phase!=Failed,status.phase!=Succeeded",
  holds: (pod) => mayRun(podSchema.parse(pod)),
};

/** So do those that are to end, which a list cannot leave out. */
const isStaying = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp === undefined;

/** Its pods, after it has adopted orphans and released what no longer matches. */
export async function findPods(step: SetStep): Promise<SetPods> {
  const { client, owner, context } = step;
  const parts = { client, owner, kind: builtin.pod, signal: context.signal };
  const matching = (await findMatching(parts)).map((pod) => podSchema.parse(pod));
  const terminating = matching.filter((pod) => isTerminating(pod) && claimOf(owner, pod) === "own");
  const active = await claim(parts, matching.filter(isActive));
  if (misses(step, active.length + terminating.length))
    await claim(parts, (await findStrayed(parts, notEnded)).filter(isStaying));
  return { active, terminating };
}

/** Those that are active in the newest state, for who is to choose among them. */
export async function activePodsNow({
  client,
  owner,
  context: { signal },
}: SetStep): Promise<readonly Pod[]> {
  const matching = await listMatching({ client, owner, kind: builtin.pod, signal });
  return matching
    .map((pod) => podSchema.parse(pod))
    .filter((pod) => isActive(pod) && claimOf(owner, pod) === "own");
}

/** Fewer than it said last, or fewer than it needs although it had some: one may have been relabelled. */
function misses({ set: { spec, status } }: SetStep, found: number): boolean {
  const had = status.replicas + (status.terminatingReplicas ?? 0);
  return had > 0 && (found < had || found < spec.replicas);
}
