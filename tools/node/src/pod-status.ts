import { type ContainerView, isRunningNow, terminatedOf, isRestarted } from "./container-state.ts";
import { now } from "./now.ts";
import type { Condition, Pod } from "./pod.ts";

/** A pod's status as this node writes it: the whole of it, for a merge patch. */
export type PodStatus = Readonly<Record<string, unknown>> & {
  readonly phase: string;
  readonly conditions: readonly Condition[];
};

export interface StatusParts {
  readonly pod: Pod;
  readonly views: readonly ContainerView[];
  readonly address: string;
  readonly startTime: string;
  /** Nothing of it will be started again, whatever its policy says: it was deleted. */
  readonly isLeaving: boolean;
  /** What was written last: a condition that has not changed keeps its time. */
  readonly before: readonly Condition[];
}

/** What is to be said of a pod whose containers look like this. Pure. */
export function statusOf({ pod, views, address, startTime, isLeaving, before }: StatusParts): PodStatus {
  const unready = views.filter(({ ready }) => !ready).map(({ name }) => name);
  const phase = phaseOf(pod, views, isLeaving);
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

/** What is to be said of a pod that this node does not run. */
export const refusedStatus = (pod: Pod, message: string): PodStatus => ({
  phase: "Failed",
  reason: "NotSupportedByNode",
  message,
  conditions: conditionsOf(
    { PodScheduled: condition("True"), Ready: { ...condition("False"), reason: "PodFailed" } },
    pod.status.conditions,
  ),
});

type Said = Readonly<Record<string, unknown>> & { readonly status: string };
const condition = (status: "True" | "False"): Said => ({ status });

/** Conditions of others stay; a time changes with the status of its condition. */
function conditionsOf(said: Readonly<Record<string, Said>>, before: readonly Condition[]): Condition[] {
  const ours = Object.entries(said).map(([type, one]) => {
    const old = before.find((other) => other.type === type);
    const same = old?.status === one.status && old.lastTransitionTime !== "";
    return { type, ...one, lastTransitionTime: same ? old.lastTransitionTime : now() };
  });
  return [...ours, ...before.filter(({ type }) => !Object.hasOwn(said, type))];
}

function phaseOf({ spec }: Pod, views: readonly ContainerView[], isLeaving: boolean): string {
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
