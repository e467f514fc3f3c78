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
  wordsOf,
} from "@drover/workloads";
import type { Kept } from "./keep-replicas.ts";
import type { SetStep } from "./reconcile-replica-set.ts";

type Status = ReplicaSetObject["status"];

/** What a set's status is to say of its pods. */
export function statusOf(
  { metadata, spec, status }: ReplicaSetObject,
  { active, terminating, failure }: Kept,
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

/** One that says already that something failed stays as it is. */
function conditionsOf({ conditions }: Status, failure: Kept["failure"], now: Date): Status["conditions"] {
  if (failure === undefined) return withoutCondition(conditions, "ReplicaFailure");
  if (conditionOf(conditions, "ReplicaFailure") !== undefined) return conditions;
  const { reason, error } = failure;
  return withCondition(conditions, {
    type: "ReplicaFailure",
    status: "True" as const,
    reason,
    lastTransitionTime: timestamp(now),
    message: wordsOf(error),
  });
}

/** Writes a status that says something new, for the version that it is about. @returns whether it does. */
export async function writeStatus({ client, set }: SetStep, status: Status): Promise<boolean> {
  if (isSameStatus(set.status, status)) return false;
  await client.replace(builtin.replicaSet, { ...set, status }, { subresource: "status" });
  return true;
}
