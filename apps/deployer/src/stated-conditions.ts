import { type Condition, ready } from "@drover/controller";
import type { FunctionContext } from "./function-objects.ts";
import type { ObservedPod } from "./observe-pods.ts";

/** What is known of a function when a run of it ends. */
export interface Known {
  readonly spec: FunctionContext["spec"];
  readonly status: FunctionContext["status"];
  readonly pods: readonly ObservedPod[];
  readonly revision: number;
  readonly wanted: number;
}

/** Ready: keys that are due get a run. Degraded: kinds that cannot be followed, each with its reason. RolledOut. */
export function statedConditions(known: Known): readonly Condition[] {
  return [readiness(known), degradation(known), ...rollingOut(known)];
}

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
  const trouble = pods.find((pod) => pod.revision === revision && pod.trouble !== undefined);
  return no("NoPodReady", trouble?.trouble ?? "Its Pods are starting.");
}

function degradation({ status }: Known): Condition {
  const degraded = Object.entries(status.follows ?? {}).filter(([, { state }]) => state === "Degraded");
  const words = degraded.map(([kind, { reason, message }]) => `${kind}: ${reason}: ${message}`);
  return degraded.length === 0
    ? { type: "Degraded", status: "False", reason: "AllFollowed", message: "" }
    : { type: "Degraded", status: "True", reason: "KindsNotFollowed", message: words.join("; ") };
}

function rollingOut({ spec, pods, revision }: Known): readonly Condition[] {
  if (spec.container === undefined) return [];
  const older = pods.filter((pod) => pod.revision !== revision);
  const current = pods.filter((pod) => pod.revision === revision);
  const stuck =
    older.length > 0 && !current.some((pod) => pod.ready) ? current.find((pod) => pod.trouble) : undefined;
  const condition = { type: "RolledOut", status: older.length === 0 ? "True" : "False" } as const;
  if (older.length === 0) return [{ ...condition, reason: "AllOfOneRevision", message: "" }];
  return [
    {
      ...condition,
      reason: stuck ? "NewPodsDoNotStart" : "OlderPodsLeft",
      message:
        stuck?.trouble ?? `${older.length} Pods of older revisions are left; they end their runs first.`,
    },
  ];
}
