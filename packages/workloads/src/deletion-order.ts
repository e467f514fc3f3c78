import { isActive, isReady, maxRestarts, type Pod, readySince } from "./pod.ts";

/**
 * Pods in the order in which they are deleted if there are too many, as Kubernetes documents it
 * (https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#scaling-down-a-replicaset): those that serve
 * least first, then those that share their node with most others, then the younger ones.
 *
 * Ages are compared by their power of two (KEP 2185), so that among pods of about the same age the youngest is not
 * always deleted first; among those, the uid decides.
 *
 * @param neighbours pods that count as others on a node: of the same owner, or of its owner's other sets.
 * @param now milliseconds since 1970.
 */
export function inDeletionOrder(pods: readonly Pod[], neighbours: readonly Pod[], now: number): Pod[] {
  const onNode = new Map<string | undefined, number>();
  for (const pod of neighbours.filter(isActive)) {
    const node = pod.spec.nodeName;
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const company = (pod: Pod): number => onNode.get(pod.spec.nodeName) ?? 0;
  return sortedBy(pods, [
    ...servingLeast,
    by(deletionCost),
    by((pod) => -company(pod)),
    (a, b) => (isReady(a) && isReady(b) ? youngerFirst(readySince(a), readySince(b), a, b, now) : 0),
    ...restartedMost,
    (a, b) => youngerFirst(created(a), created(b), a, b, now),
  ]);
}

/**
 * The same for pods of a Job: neither their cost nor their nodes count, and ages are compared as they are
 * (kube-controller-manager's ActivePods).
 */
export function inPlainDeletionOrder(pods: readonly Pod[]): Pod[] {
  const newerFirst = (a = Infinity, b = Infinity): number => (a === b ? 0 : a > b ? -1 : 1);
  return sortedBy(pods, [
    ...servingLeast,
    (a, b) => (isReady(a) && isReady(b) ? newerFirst(readySince(a), readySince(b)) : 0),
    ...restartedMost,
    (a, b) => newerFirst(created(a), created(b)),
  ]);
}

type Rule = (a: Pod, b: Pod) => number;

/** By the first rule that tells two pods apart. */
const sortedBy = (pods: readonly Pod[], rules: readonly Rule[]): Pod[] =>
  [...pods].sort((a, b) => {
    for (const rule of rules) {
      const order = rule(a, b);
      if (order !== 0) return order;
    }
    return 0;
  });

const phases = ["Pending", "Unknown", "Running"];

const by =
  (value: (pod: Pod) => number): Rule =>
  (a, b) =>
    value(a) - value(b);

const servingLeast: readonly Rule[] = [
  by((pod) => (pod.spec.nodeName === undefined ? 0 : 1)),
  by((pod) => phases.indexOf(pod.status.phase ?? "")),
  by((pod) => (isReady(pod) ? 1 : 0)),
];
const restartedMost: readonly Rule[] = [by((pod) => -maxRestarts(pod)[0]), by((pod) => -maxRestarts(pod)[1])];

/** `controller.kubernetes.io/pod-deletion-cost`: an int32; 0 if it is missing or not valid. */
function deletionCost({ metadata: { annotations } }: Pod): number {
  const text = annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? "";
  const cost = /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : 0;
  return cost === (cost | 0) ? cost : 0;
}

const created = ({ metadata: { creationTimestamp } }: Pod): number | undefined =>
  creationTimestamp === undefined ? undefined : Date.parse(creationTimestamp);

/** Compares two pods by age, the younger one first. A pod without a time counts as the youngest. */
function youngerFirst(
  since: number | undefined,
  otherSince: number | undefined,
  a: Pod,
  b: Pod,
  now: number,
): number {
  if (since === otherSince) return 0;
  if (since === undefined) return -1;
  if (otherSince === undefined) return 1;
  const difference = magnitude(now - since) - magnitude(now - otherSince);
  return difference !== 0 ? difference : a.metadata.uid < b.metadata.uid ? -1 : 1;
}

/** The power of two of a span in milliseconds, taken in nanoseconds as in kube-controller-manager. */
const magnitude = (span: number): number => (span > 0 ? Math.trunc(Math.log2(span * 1e6)) : -1);
