import { isDeepStrictEqual } from "node:util";
import { builtin, matchesLabels } from "@drover/kube";
import {
  conditionOf,
  isAvailable,
  isReady,
  type ReplicaSetObject,
  timestamp,
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
  { active, terminating, failed, failure, reason }: Kept,
  now: Date,
): Status {
  const { labels = {} } = spec.template.metadata;
  const standing = conditionOf(status.conditions, "ReplicaFailure");
  const failing = {
    ...{ type: "ReplicaFailure", status: "True" as const, ...(reason && { reason }) },
    ...{ lastTransitionTime: timestamp(now), message: wordsOf(failure) },
  };
  const conditions = failed
    ? standing
      ? status.conditions
      : withCondition(status.conditions, failing)
    : withoutCondition(status.conditions, "ReplicaFailure");
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

/** Writes a status that says something new, for the version that it is about. */
export async function writeStatus({ client, set }: SetStep, status: Status): Promise<void> {
  if (isDeepStrictEqual(plain(set.status), plain(status))) return;
  await client.replace(builtin.replicaSet, { ...set, status }, { subresource: "status" });
}

const plain = ({ conditions = [], ...status }: Status): object => ({ ...status, conditions });
