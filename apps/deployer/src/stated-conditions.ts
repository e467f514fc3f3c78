import { type Condition, ready, reconciling, rolledOut, stalled } from "@drover/controller";
import type { FunctionContext } from "./function-objects.ts";
import type { FunctionLoad } from "./function-queues.ts";
import { isTried } from "./function-rollout.ts";
import type { ObservedPod, PodTrouble } from "./observe-pods.ts";

/** What is known of a function when a run of it ends. */
export interface Known {
  readonly spec: FunctionContext["spec"];
  readonly status: FunctionContext["status"];
  readonly pods: readonly ObservedPod[];
  readonly revision: number;
  readonly wanted: number;
  readonly load: Pick<FunctionLoad, "allPaused">;
}

/**
 * Ready: keys that are due get a run. Degraded: kinds that cannot be followed, each with its reason. RolledOut. A function
 * whose older version is Ready while the new one is rolled out is Reconciling all the same, or Stalled.
 */
export function statedConditions(known: Known): readonly Condition[] {
  const is = readiness(known);
  const rollout = rollingOut(known);
  const wrong = [is, ...rollout].filter(({ status }) => status === "False");
  const lasting = wrong.find(({ reason }) => needsAPerson.includes(reason));
  const [first] = wrong;
  const work: Condition[] =
    first === undefined
      ? []
      : [{ ...(lasting ?? first), type: lasting ? stalled : reconciling, status: "True" }];
  return [is, degradation(known), ...rollout, ...work];
}

/** Reasons that end when the spec is another one, or the image is there. */
const needsAPerson: readonly string[] = ["NotInUse", "ImageNotPulled"];

function readiness({ spec, status, pods, revision, wanted }: Known): Condition {
  const yes = (reason: string, message: string): Condition => ({
    type: ready,
    status: "True",
    reason,
    message,
  });
  const no = (reason: string, message: string): Condition => ({
    type: ready,
    status: "False",
    reason,
    message,
  });
  if (status.problem !== undefined) return no("NotInUse", status.problem);
  if (spec.paused === true) return yes("Paused", "No run starts, because spec.paused says so.");
  if (spec.container === undefined) return yes("Registered", "Somebody else runs it: spec has no container.");
  const able = pods.filter((pod) => pod.ready && !pod.deleting);
  if (wanted === 0) return yes("ScaledToZero", "Nothing is due; the first key that is has a Pod started.");
  if (able.length > 0) return yes("Running", `${able.length} of ${wanted} Pods are Ready.`);
  return no("NoPodReady", troubleOf(pods, revision)?.words ?? "Its Pods are starting.");
}

function degradation({ status }: Known): Condition {
  const degraded = Object.entries(status.follows ?? {}).filter(([, { state }]) => state === "Degraded");
  const words = degraded.map(([kind, { reason, message }]) => `${kind}: ${reason}: ${message}`);
  return degraded.length === 0
    ? { type: "Degraded", status: "False", reason: "AllFollowed", message: "" }
    : { type: "Degraded", status: "True", reason: "KindsNotFollowed", message: words.join("; ") };
}

/** True once a Pod of the container that the spec has was Ready, and no older Pod is left. */
function rollingOut({ spec, status, pods, revision, load: { allPaused } }: Known): readonly Condition[] {
  if (spec.container === undefined) return [];
  const older = pods.filter((pod) => pod.revision !== revision).length;
  const isNewReady = pods.some((pod) => pod.revision === revision && pod.ready);
  const condition = (status: Condition["status"], reason: string, message = ""): readonly Condition[] => [
    { type: rolledOut, status, reason, message },
  ];
  const trouble = troubleOf(pods, revision);
  const isDone = isTried({ spec, status });
  if (isDone && older === 0) return condition("True", "AllOfOneRevision");
  if (!isNewReady && trouble !== undefined) return condition("False", trouble.reason, trouble.words);
  if (older > 0) {
    const message = `${older} Pods of older revisions are left; they end their runs first.`;
    return condition("False", "OlderPodsLeft", message);
  }
  return allPaused
    ? condition("Unknown", "Paused", "While the function is paused, its container is not tried.")
    : condition("False", "FirstPodStarting", "The first Pod of this container is starting.");
}

const troubleOf = (pods: readonly ObservedPod[], revision: number): PodTrouble | undefined =>
  pods.find((pod) => pod.revision === revision && pod.trouble !== undefined)?.trouble;
