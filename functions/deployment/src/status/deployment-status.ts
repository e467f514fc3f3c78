import { conditionFields, setCondition } from "./deployment-conditions.ts";
import { boundsOf } from "../deployment.ts";
import { type Draft, type DraftSet, totalOf } from "../draft.ts";
import { newSetOf } from "../rollout/find-new-set.ts";

type Count = "replicas" | "readyReplicas" | "availableReplicas";
const sum = (sets: readonly DraftSet[], count: Count): number =>
  sets.reduce((total, { set }) => total + set.status[count], 0);

/** Sums up the counts in the statuses of the sets, and sets the condition Available. */
export function countReplicas(draft: Draft): void {
  const { deployment, sets } = draft;
  const newest = newSetOf(draft);
  const available = sum(sets, "availableReplicas");
  const { terminatingReplicas: _, ...before } = draft.status;
  const terminating = terminatingIn(sets);
  draft.status = {
    ...before,
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(sets, "replicas"),
    updatedReplicas: newest?.set.status.replicas ?? 0,
    readyReplicas: sum(sets, "readyReplicas"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalOf(sets) - available),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
  };
  const isEnough = available >= deployment.spec.replicas - boundsOf(deployment).maxUnavailable;
  setCondition(
    draft,
    isEnough
      ? conditionFields(
          "Available",
          "True",
          "MinimumReplicasAvailable",
          "Deployment has minimum availability.",
        )
      : conditionFields(
          "Available",
          "False",
          "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.",
        ),
  );
}

/**
 * The number of terminating pods. Undefined if the controller of a set does not count them: then the sum is unknown.
 */
function terminatingIn(sets: readonly DraftSet[]): number | undefined {
  const counted = sets.filter(
    ({ set: { status } }) => status.observedGeneration > 0 || status.terminatingReplicas !== undefined,
  );
  const counts = counted.map(({ set }) => set.status.terminatingReplicas);
  return counts.every((count) => count !== undefined)
    ? counts.reduce((total, count) => total + count, 0)
    : undefined;
}

/** True if all pods that the spec asks for exist with the newest template and are available, and no others exist. */
export function isComplete({ deployment: { spec }, status }: Draft): boolean {
  const { updatedReplicas, replicas, availableReplicas } = status;
  return [updatedReplicas, replicas, availableReplicas].every((count) => count === spec.replicas);
}
