import type { Milliseconds } from "@drover/controller";
import { isAvailable, isReady, mayRun, type Pod } from "@drover/workloads";
import { allowsSurge, type DaemonSetObject } from "../daemon-set.ts";
import {
  type Changes,
  type DaemonSetRunContext,
  type NodeName,
  type PlannedPod,
  type Placed,
  publish,
} from "../daemon-set-run.ts";
import type { Placement } from "../nodes/placement.ts";
import { hashOf } from "../revision/controller-revision.ts";
import { inKeepingOrder, isLeaving, isUpdated } from "./daemon-pod.ts";
import { failureOf } from "./failed-pods.ts";

export interface PodPlan extends Changes {
  /** Times until failed pods may be replaced. */
  readonly waits: readonly Milliseconds[];
}

/** The pods to create where one is missing, and to delete where one must not be, has ended, or is one too many. */
export function planPods(runContext: DaemonSetRunContext, { placements, pods, hash }: Placed): PodPlan {
  const plans = [...placements].map(([node, placement]) =>
    planNode(runContext, { node, placement, pods: pods.get(node) ?? [], hash }),
  );
  // Nothing else deletes a pod that waits for a node which is gone.
  const lost = [...pods]
    .filter(([node]) => !placements.has(node))
    .flatMap(([, all]) => all.filter(({ spec }) => spec.nodeName === undefined));
  return {
    create: plans.flatMap(({ create }) => create),
    delete: [...plans.flatMap((one) => one.delete), ...lost],
    waits: plans.flatMap(({ waits }) => waits),
  };
}

interface OnNode {
  readonly node: NodeName;
  readonly placement: Placement;
  readonly pods: readonly Pod[];
  readonly hash: string;
}

function planNode(runContext: DaemonSetRunContext, { node, placement, pods, hash }: OnNode): PodPlan {
  const { daemonSet, now } = runContext;
  const staying = pods.filter((pod) => !isLeaving(pod));
  if (placement === "none") return { create: [], delete: staying, waits: [] };
  const { failures, waits, ...ended } = planEnded(runContext, node, staying, hash);
  const surplus = surplusOf(daemonSet, staying.filter(mayRun), hash, now().getTime());
  // A pod that is being deleted keeps its place, unless the node may have two.
  const left = (allowsSurge(daemonSet) ? staying : pods).filter((pod) => !ended.delete.includes(pod));
  const isNew = (pod: Pod): boolean => isUpdated(daemonSet, pod, hash);
  // With a surge, the next new pod is created here, beside the old one, because it carries the count of failures.
  const isToFollow =
    allowsSurge(daemonSet) &&
    ended.delete.some((pod) => pod.status.phase === "Failed" && isNew(pod)) &&
    !left.some(isNew);
  return {
    create: placement === "run" && (left.length === 0 || isToFollow) ? [{ node, failures }] : [],
    delete: [...ended.delete, ...surplus],
    waits,
  };
}

/** Pods that have succeeded go at once, and pods that have failed after a time, so that they are not created in a loop. */
function planEnded(
  runContext: DaemonSetRunContext,
  node: NodeName,
  pods: readonly Pod[],
  hash: string,
): Omit<PodPlan, "create"> & Pick<PlannedPod, "failures"> {
  const failed = pods
    .filter(({ status }) => status.phase === "Failed")
    .map((pod) => ({ pod, ...failureOf(pod, hash, runContext.now().getTime()) }));
  const due = failed.filter(({ wait }) => wait === 0);
  const succeeded = pods.filter(({ status }) => status.phase === "Succeeded");
  const found = (how: string, { metadata }: Pod, action: string): string =>
    `Found ${how} daemon pod ${metadata.namespace}/${metadata.name} on node ${node}, will try to ${action} it`;
  for (const { pod } of due) publish(runContext, "FailedDaemonPod", found("failed", pod, "kill"), "Warning");
  for (const pod of succeeded) publish(runContext, "SucceededDaemonPod", found("succeeded", pod, "delete"));
  return {
    delete: [...due.map(({ pod }) => pod), ...succeeded],
    waits: failed.map(({ wait }) => wait).filter((wait) => wait > 0),
    ...(due.length > 0 && { failures: Math.max(...due.map(({ failures }) => failures)) }),
  };
}

/**
 * The pods of a node that are too many. With a surge a node has two while its new pod is not available and its old one is
 * still ready; without one it has the pod that is kept first.
 */
function surplusOf(
  daemonSet: DaemonSetObject,
  running: readonly Pod[],
  hash: string,
  now: Milliseconds,
): readonly Pod[] {
  const order = inKeepingOrder(running);
  if (order.length <= 1 || !allowsSurge(daemonSet)) return order.slice(1);
  const isNew = (pod: Pod): boolean => hashOf(pod) === hash;
  const [newest, oldest] = [order.find(isNew), order.find((pod) => !isNew(pod))];
  const isReplaced =
    newest !== undefined &&
    oldest !== undefined &&
    (!isReady(oldest) || isAvailable(newest, daemonSet.spec.minReadySeconds, now));
  return order.filter((pod) => pod !== newest && (pod !== oldest || isReplaced));
}
