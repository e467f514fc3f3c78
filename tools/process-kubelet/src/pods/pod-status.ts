import {
  type ContainerView,
  isRunningNow,
  terminatedOf,
  isRestarted,
} from "../containers/container-state.ts";
import { timestampNow } from "../timestamp-now.ts";
import type { PodCondition, NodePod } from "./pod.ts";

/** A pod's status as this node writes it: the whole of it, for a merge patch. */
export type PodStatus = Readonly<Record<string, unknown>> & {
  readonly phase: string;
  readonly conditions: readonly PodCondition[];
};

export interface StatusInput {
  readonly pod: NodePod;
  readonly views: readonly ContainerView[];
  /** As published. */
  readonly address: string;
  readonly startTime: string;
  /** Nothing of it will be started again, whatever its policy: it was deleted. */
  readonly isTerminating: boolean;
  /** The last conditions: a condition without a change keeps its time. */
  readonly before: readonly PodCondition[];
}

/** The status of a pod with these containers. Pure. */
export function podStatus({ pod, views, address, startTime, isTerminating, before }: StatusInput): PodStatus {
  const unready = views.filter(({ ready }) => !ready).map(({ name }) => name);
  const phase = phaseOf(pod, views, isTerminating);
  const finished = phase === "Succeeded" || phase === "Failed";
  const problem = {
    reason: finished ? "PodCompleted" : "ContainersNotReady",
    message: `containers with unready status: [${unready.join(" ")}]`,
  };
  const ready = unready.length === 0 ? condition("True") : { ...condition("False"), ...problem };
  const now = {
    PodScheduled: condition("True"),
    Initialized: condition("True"),
    ContainersReady: ready,
    Ready: ready,
  };
  return {
    phase,
    conditions: conditionsOf(now, before),
    hostIP: "127.0.0.1",
    podIP: address,
    podIPs: [{ ip: address }],
    startTime,
    containerStatuses: views.map(containerStatus),
  };
}

/** The status of a pod that this node does not run. */
export const refusedStatus = (pod: NodePod, message: string): PodStatus => ({
  phase: "Failed",
  reason: "NotSupportedByNode",
  message,
  conditions: conditionsOf(
    { PodScheduled: condition("True"), Ready: { ...condition("False"), reason: "PodFailed" } },
    pod.status.conditions,
  ),
});

type ConditionFields = Readonly<Record<string, unknown>> & { readonly status: string };
const condition = (status: "True" | "False"): ConditionFields => ({ status });

/** Conditions of others stay; a time changes with the status of its condition. */
function conditionsOf(
  fields: Readonly<Record<string, ConditionFields>>,
  before: readonly PodCondition[],
): PodCondition[] {
  const ours = Object.entries(fields).map(([type, one]) => {
    const old = before.find((other) => other.type === type);
    const same = old?.status === one.status && old.lastTransitionTime !== "";
    return { type, ...one, lastTransitionTime: same ? old.lastTransitionTime : timestampNow() };
  });
  return [...ours, ...before.filter(({ type }) => !Object.hasOwn(fields, type))];
}

function phaseOf({ spec }: NodePod, views: readonly ContainerView[], isLeaving: boolean): string {
  const ends = views.map(terminatedOf);
  const final = ends.flatMap((end) =>
    end && (isLeaving || !isRestarted(spec.restartPolicy, end)) ? [end] : [],
  );
  if (views.length > 0 && final.length === views.length)
    return final.every(({ exitCode }) => exitCode === 0) ? "Succeeded" : "Failed";
  const begun = views.every((view) => isRunningNow(view) || (terminatedOf(view) ?? view.last) !== undefined);
  return begun ? "Running" : "Pending";
}

const containerStatus = ({ name, image, state, last, restarts, started, ready, pid }: ContainerView) => ({
  name,
  image,
  imageID: "",
  state,
  ready,
  started,
  restartCount: restarts,
  lastState: last === undefined ? {} : { terminated: last },
  ...(pid !== undefined && { containerID: `process://${pid}` }),
});
