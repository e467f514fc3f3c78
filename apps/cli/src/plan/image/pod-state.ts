import type { KubeObject } from "@drover/kube";
import { z } from "zod";

const stateSchema = z.looseObject({ reason: z.string().optional(), message: z.string().optional() });
const podSchema = z.looseObject({
  status: z
    .looseObject({
      ...stateSchema.shape,
      phase: z.string().optional(),
      conditions: z.array(stateSchema.extend({ type: z.string(), status: z.string() })).default([]),
      containerStatuses: z
        .array(
          z.looseObject({
            state: z
              .looseObject({
                waiting: stateSchema.optional(),
                terminated: stateSchema.extend({ exitCode: z.number() }).optional(),
              })
              .default({}),
          }),
        )
        .default([]),
    })
    .default({ conditions: [], containerStatuses: [] }),
});

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
  const { status } = podSchema.parse(pod);
  const { phase, conditions } = status;
  // An admission webhook may have added containers.
  const states = status.containerStatuses.map(({ state }) => state);
  const problem = states.map(({ waiting }) => waiting).find((one) => !starting.includes(one?.reason));
  const terminated = states.find((state) => state.terminated !== undefined)?.terminated;
  const isTrue = (condition: string): boolean =>
    conditions.some((one) => one.type === condition && one.status === "True");
  const unscheduled = conditions.find((one) => one.type === "PodScheduled" && one.status === "False");
  const why = [status, unscheduled, problem, terminated]
    .flatMap((one) => [one?.reason, one?.message])
    .concat(terminated && `its container ended with exit code ${terminated.exitCode}`)
    .filter((word) => word !== undefined && word !== "")
    .join(": ");
  const isOver = phase === "Failed" || phase === "Succeeded";
  if (isOver || problem !== undefined) return { kind: "failed", isOver, why };
  if (isTrue("Ready")) return { kind: "ready", isOver, why };
  return { kind: "starting", isOver, why: why === "" && phase === "Running" ? deaf : why };
}
