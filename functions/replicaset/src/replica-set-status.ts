import { timestamp } from "@drover/controller";
import { builtin, matchesLabels } from "@drover/kube";
import {
  conditionOf,
  isAvailable,
  isReady,
  isSameStatus,
  type ReplicaSetObject,
  withCondition,
  withoutCondition,
  serverMessageOf,
} from "@drover/workloads";
import type { ReplicasResult } from "./adjust-replicas.ts";
import type { ReplicaSetRunContext } from "./replica-set-run-context.ts";

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

/**
 * Writes a status if it differs from the present one, for the version that was read. @returns true if it was written.
 */
export async function writeStatus({ client, set }: ReplicaSetRunContext, status: Status): Promise<boolean> {
  if (isSameStatus(set.status, status)) return false;
  await client.replace(builtin.replicaSet, { ...set, status }, { subresource: "status" });
  return true;
}
