import { isTrueIn, type KubeObject, podStatusOf, unscheduledReason } from "@drover/kube";

/** The state of a Pod that is to become Ready, with the reasons and messages of scheduler and kubelet. */
export interface PodState {
  /** `failed`: it does not become Ready without a change by a user. */
  readonly kind: "ready" | "starting" | "failed";
  /** True if its process has ended, for good. */
  readonly isOver: boolean;
  /** Empty if there is none. */
  readonly why: string;
}

const deaf =
  "it accepts no connection at its port. A function listens at DROVER_HTTP_HOST and DROVER_HTTP_PORT.";
/** The kubelet's reasons for a container that is starting without a problem so far; none if it has started. */
const starting: readonly (string | undefined)[] = [undefined, "ContainerCreating", "PodInitializing"];

/** @param pod undefined if it was deleted. */
export function podState(pod: KubeObject | undefined): PodState {
  if (pod === undefined) return { kind: "failed", isOver: true, why: "it was deleted" };
  const status = podStatusOf(pod);
  const { phase } = status;
  // An admission webhook may have added containers.
  const states = status.containerStatuses.map(({ state }) => state);
  const problem = states.map(({ waiting }) => waiting).find((one) => !starting.includes(one?.reason));
  const terminated = states.find((state) => state.terminated !== undefined)?.terminated;
  const why = [status, unscheduledReason(status), problem, terminated]
    .flatMap((one) => [one?.reason, one?.message])
    .concat(terminated && `its container ended with exit code ${terminated.exitCode}`)
    .filter((word) => word !== undefined && word !== "")
    .join(": ");
  const isOver = phase === "Failed" || phase === "Succeeded";
  if (isOver || problem !== undefined) return { kind: "failed", isOver, why };
  if (isTrueIn(status, "Ready")) return { kind: "ready", isOver, why };
  return { kind: "starting", isOver, why: why === "" && phase === "Running" ? deaf : why };
}
