import type { Exit } from "@drover/local-servers";
import { constants } from "node:os";
import { timestampNow } from "../timestamp-now.ts";
import type { PodSpec, WrittenStatus } from "../pods/pod.ts";

export interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

/** The state of a container, as in the `state` of a containerStatus. */
export type ContainerState =
  | { readonly waiting: { readonly reason: string; readonly message?: string } }
  | { readonly running: { readonly startedAt: string } }
  | { readonly terminated: Terminated };

/** A container, for its pod's status. */
export interface ContainerView {
  readonly name: string;
  readonly image: string;
  readonly state: ContainerState;
  readonly last: Terminated | undefined;
  readonly restarts: number;
  readonly started: boolean;
  readonly ready: boolean;
  /** Id of the current or last process. */
  readonly pid: number | undefined;
}

export const terminatedOf = (view: ContainerView): Terminated | undefined =>
  "terminated" in view.state ? view.state.terminated : undefined;
export const isRunningNow = (view: ContainerView): boolean => "running" in view.state;

/** How a process ended: a signal counts as 128 and its number, as with every shell. */
export function terminatedBy({ code, signal }: Exit, startedAt: string): Terminated {
  const number = signal === null ? undefined : constants.signals[signal];
  const exitCode = code ?? 128 + (number ?? 0);
  const reason = exitCode === 0 ? "Completed" : "Error";
  const times = { startedAt, finishedAt: timestampNow() };
  return { exitCode, ...(number !== undefined && { signal: number }), reason, ...times };
}

export type RestartPolicy = PodSpec["restartPolicy"];

export const isRestarted = (policy: RestartPolicy, { exitCode }: Pick<Terminated, "exitCode">): boolean =>
  policy === "Always" || (policy === "OnFailure" && exitCode !== 0);

/** Where a container begins that an earlier life of the node may have run. */
export interface ContainerStart {
  /** How it ended, if it is not to be started (again). */
  readonly over: Terminated | undefined;
  readonly last: Terminated | undefined;
  readonly restarts: number;
}

type WrittenContainer = WrittenStatus["containerStatuses"][number];

/** A process that the status lists as running died with its node. */
const killedWithNode: Terminated = {
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The node that ran this process was stopped, and the process with it",
};

export function containerStart(written: WrittenContainer | undefined, policy: RestartPolicy): ContainerStart {
  if (written === undefined) return { over: undefined, last: undefined, restarts: 0 };
  const { state, lastState, restartCount: restarts } = written;
  const end =
    state?.running != null ? killedWithNode : terminatedFrom(state?.terminated ?? lastState?.terminated);
  if (end === undefined) return { over: undefined, last: undefined, restarts };
  return isRestarted(policy, end)
    ? { over: undefined, last: end, restarts: restarts + 1 }
    : { over: end, last: undefined, restarts };
}

type Written = NonNullable<NonNullable<WrittenContainer["state"]>["terminated"]>;
const terminatedFrom = (terminated: Written | null | undefined): Terminated | undefined =>
  terminated == null
    ? undefined
    : { reason: terminated.exitCode === 0 ? "Completed" : "Error", ...terminated };
