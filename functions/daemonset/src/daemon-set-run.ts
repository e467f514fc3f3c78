import { type Owner, type Pod, publishAs, type WorkloadRunContext } from "@drover/workloads";
import type { DaemonSet, DaemonSetObject } from "./daemon-set.ts";
import type { Placement } from "./nodes/placement.ts";

/** The common parts of all steps of a run. */
export interface DaemonSetRunContext extends WorkloadRunContext<typeof DaemonSet> {
  readonly daemonSet: DaemonSetObject;
  /** The template as it was read, which the parsed one may differ from in empty fields. */
  readonly template: object;
  readonly owner: Owner;
}

export type NodeName = string;
/** The pods of a DaemonSet by the nodes that they run on, or are pinned to. */
export type PodsByNode = ReadonlyMap<NodeName, readonly Pod[]>;

/** The nodes with the relation of each to the template, and the pods on them. */
export interface Placed {
  readonly placements: ReadonlyMap<NodeName, Placement>;
  readonly pods: PodsByNode;
  /** The hash of the current template. */
  readonly hash: string;
}

/** Pods to be created and deleted. */
export interface Changes {
  readonly create: readonly PlannedPod[];
  readonly delete: readonly Pod[];
}

/** A pod to be created on a node. */
export interface PlannedPod {
  readonly node: NodeName;
  /** How many pods have failed on the node one after the other before it. */
  readonly failures?: number | undefined;
}

export const publish = publishAs("Reconcile");
