import { builtin } from "@drover/kube";
import { adoptAndRelease, findMatching, findStrayed, mayRun, type Pod, podSchema } from "@drover/workloads";
import { allowsSurge } from "../daemon-set.ts";
import type { DaemonSetRunContext, PodsByNode } from "../daemon-set-run.ts";
import type { Node } from "../nodes/node.ts";
import { isLeaving, nodeOf } from "./daemon-pod.ts";

/**
 * The pods of a DaemonSet. Adopts orphans and releases pods that no longer match before it returns them.
 *
 * @param nodes that exist; the status counts no others.
 */
export async function findPods(
  { client, owner, context: { signal }, daemonSet }: DaemonSetRunContext,
  nodes: readonly Node[],
): Promise<readonly Pod[]> {
  const parts = { client, owner, kind: builtin.pod, signal };
  const pods = await adoptAndRelease(
    parts,
    (await findMatching(parts)).map((pod) => podSchema.parse(pod)),
  );
  const { currentNumberScheduled, numberMisscheduled } = daemonSet.status;
  const onNodes = byNode(pods);
  const withPods = nodes.filter(({ metadata }) => onNodes.has(metadata.name)).length;
  // One of them may have been relabelled: fewer nodes have a pod than the status counts, or a node may have two.
  if (withPods < currentNumberScheduled + numberMisscheduled || allowsSurge(daemonSet))
    await adoptAndRelease(parts, await findStrayed(parts));
  return pods;
}

/** A pod that has ended and is being deleted is as good as gone. */
const isGone = (pod: Pod): boolean => !mayRun(pod) && isLeaving(pod);

/** The pods by their nodes, except for those that have ended and are being deleted, or that have no node. */
export function byNode(pods: readonly Pod[]): PodsByNode {
  const nodes = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = isGone(pod) ? undefined : nodeOf(pod);
    if (node === undefined) continue;
    const others = nodes.get(node);
    if (others === undefined) nodes.set(node, [pod]);
    else others.push(pod);
  }
  return nodes;
}
