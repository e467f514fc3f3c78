import { timestamp } from "@drover/controller";
import { matchesLabels } from "@drover/kube";
import {
  conditionOf,
  isAvailable,
  isReady,
  type ReplicaSetObject,
  withCondition,
  withoutCondition,
  serverMessageOf,
} from "@drover/workloads";
import type { ReplicasResult } from "./adjust-replicas.ts";

type Status = ReplicaSetObject["status"];

/** The status of a set with these pods. */
export function replicaSetStatus(
  { metadata, spec, status }: ReplicaSetObject,
  { active, terminating, failure }: ReplicasResult,
  now: Date,
): Status {
  const { labels = {} } = spec.template.metadata;
  const conditions = conditionsOf(status, failure, now);
  return {
    ...status,
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => matchesLabels({ matchLabels: labels }, pod.metadata.labels))
      .length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, spec.minReadySeconds, now.getTime())).length,
    terminatingReplicas: terminating.length,
    observedGeneration: metadata.generation ?? 0,
    ...(conditions && { conditions }),
  };
}

/** A condition that already reports a failure stays as it is. */
function conditionsOf(
  { conditions }: Status,
  failure: ReplicasResult["failure"],
  now: Date,
): Status["conditions"] {
  if (failure === undefined) return withoutCondition(conditions, "ReplicaFailure");
  if (conditionOf(conditions, "ReplicaFailure") !== undefined) return conditions;
  const { reason, error } = failure;
  return withCondition(conditions, {
    type: "ReplicaFailure",
    status: "True" as const,
    reason,
    lastTransitionTime: timestamp(now),
    message: serverMessageOf(error),
  });
}
