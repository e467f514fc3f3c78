import type { Pod } from "@drover/workloads";
import { affinitySchema, nodePinnedBy } from "../nodes/node-affinity.ts";
import type { DaemonSetObject } from "../daemon-set.ts";
import type { NodeName } from "../daemon-set-run.ts";
import { hashOf } from "../revision/controller-revision.ts";

/** The deprecated label and annotation with the number of a template. */
export const generationLabel = "pod-template-generation";
const generationAnnotation = "deprecated.daemonset.template.generation";

/** The number of a DaemonSet's template; undefined if its annotation has none. */
export function templateGeneration({ metadata }: DaemonSetObject): string | undefined {
  const text = metadata.annotations?.[generationAnnotation] ?? "";
  return /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")).toString() : undefined;
}

/** True if the pod is of the current template, by its hash or by its number. */
export function isUpdated(daemonSet: DaemonSetObject, pod: Pod, hash: string): boolean {
  const generation = templateGeneration(daemonSet);
  const label = pod.metadata.labels?.[generationLabel];
  return hashOf(pod) === hash || (generation !== undefined && label === generation);
}

const hasNode = ({ spec }: Pod): boolean => spec.nodeName !== undefined && spec.nodeName !== "";

/** The node that a pod runs on, or is pinned to; undefined if it has neither. */
export const nodeOf = (pod: Pod): NodeName | undefined =>
  hasNode(pod) ? pod.spec.nodeName : nodePinnedBy(affinitySchema.safeParse(pod.spec["affinity"]).data);

export const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** The pods in the order in which they are kept: those on their node first, then the older ones. */
export const inKeepingOrder = (pods: readonly Pod[]): readonly Pod[] =>
  [...pods].sort((a, b) => {
    if (hasNode(a) !== hasNode(b)) return hasNode(a) ? -1 : 1;
    const [created, other] = [a, b].map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ""));
    if (created !== other) return Number(created) - Number(other);
    return a.metadata.name < b.metadata.name ? -1 : 1;
  });
