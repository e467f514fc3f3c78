import {
  type Condition,
  readyCondition,
  reconcilingCondition,
  rolledOutCondition,
  stalledCondition,
} from "@drover/controller";
import type { FunctionContext } from "./objects/function-object.ts";
import type { FunctionLoad } from "./redis/function-queues.ts";
import { isTried } from "./pods/next-rollout.ts";
import type { ObservedPod, PodProblem } from "./pods/observe-pods.ts";

/** The state of a function at the end of a run. */
export interface FunctionState {
  readonly spec: FunctionContext["spec"];
  readonly status: FunctionContext["status"];
  readonly pods: readonly ObservedPod[];
  readonly revision: number;
  readonly wanted: number;
  readonly load: Pick<FunctionLoad, "allPaused">;
}

/**
 * The conditions of a function. Ready: due keys get a run. Degraded: some kinds cannot be watched, each with its
 * reason. RolledOut: the present version has replaced the older ones. While Ready or RolledOut is False, the function
 * is also Reconciling, or Stalled if a user has to act; even if an older version is Ready.
 */
export function functionConditions(known: FunctionState): readonly Condition[] {
  const is = readyConditionOf(known);
  const rollout = rolloutConditions(known);
  const wrong = [is, ...rollout].filter(({ status }) => status === "False");
  const lasting = wrong.find(({ reason }) => stalledReasons.includes(reason));
  const [first] = wrong;
  const work: Condition[] =
    first === undefined
      ? []
      : [{ ...(lasting ?? first), type: lasting ? stalledCondition : reconcilingCondition, status: "True" }];
  return [is, degradedConditionOf(known), ...rollout, ...work];
}

/** Reasons that last until the spec is changed or the image exists. */
const stalledReasons: readonly string[] = ["NotInUse", "ImageNotPulled"];

function readyConditionOf({ spec, status, pods, revision, wanted }: FunctionState): Condition {
  const yes = (reason: string, message: string): Condition => ({
    type: readyCondition,
    status: "True",
    reason,
    message,
  });
  const no = (reason: string, message: string): Condition => ({
    type: readyCondition,
    status: "False",
    reason,
    message,
  });
  if (status.problem !== undefined)
    return no("NotInUse", `The bridge does not use this spec: ${status.problem}`);
  if (spec.paused === true) return yes("Paused", "No run starts, because spec.paused is true.");
  if (spec.container === undefined)
    return yes("Registered", "The deployer creates no Pods, because spec has no container.");
  const able = pods.filter((pod) => pod.ready && !pod.deleting);
  if (wanted === 0) return yes("ScaledToZero", "Scaled to zero. A Pod starts when a key is due.");
  if (able.length > 0) return yes("Running", `${able.length} of ${wanted} Pods are Ready.`);
  return no("NoPodReady", problemOf(pods, revision)?.message ?? "Its Pods are starting.");
}

function degradedConditionOf({ status }: FunctionState): Condition {
  const degraded = Object.entries(status.follows ?? {}).filter(([, { state }]) => state === "Degraded");
  const words = degraded.map(([kind, { reason, message }]) => `${kind}: ${reason}: ${message}`);
  return degraded.length === 0
    ? { type: "Degraded", status: "False", reason: "AllKindsWatched", message: "" }
    : { type: "Degraded", status: "True", reason: "KindsNotWatched", message: words.join("; ") };
}

/** RolledOut: True once a Pod with the present container has been Ready, and no older Pod is left. */
function rolloutConditions({
  spec,
  status,
  pods,
  revision,
  load: { allPaused },
}: FunctionState): readonly Condition[] {
  if (spec.container === undefined) return [];
  const older = pods.filter((pod) => pod.revision !== revision).length;
  const isNewReady = pods.some((pod) => pod.revision === revision && pod.ready);
  const condition = (status: Condition["status"], reason: string, message = ""): readonly Condition[] => [
    { type: rolledOutCondition, status, reason, message },
  ];
  const problem = problemOf(pods, revision);
  const isDone = isTried({ spec, status });
  if (isDone && older === 0) return condition("True", "AllOfOneRevision");
  if (!isNewReady && problem !== undefined) return condition("False", problem.reason, problem.message);
  if (older > 0) {
    const message = `${older} Pods of older revisions are left; they end their runs first.`;
    return condition("False", "OlderPodsLeft", message);
  }
  return allPaused
    ? condition("Unknown", "Paused", "While the function is paused, its container is not tried.")
    : condition("False", "FirstPodStarting", "The first Pod of this container is starting.");
}

const problemOf = (pods: readonly ObservedPod[], revision: number): PodProblem | undefined =>
  pods.find((pod) => pod.revision === revision && pod.problem !== undefined)?.problem;
