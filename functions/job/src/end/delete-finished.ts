import type { ReconcileResult } from "@drover/controller";
import { keyOf, refOf } from "@drover/kube";
import { requeueIn, type WorkloadRunContext } from "@drover/workloads";
import { finishedCondition, Job, type JobObject } from "../job.ts";

/**
 * Deletes a finished Job `ttlSecondsAfterFinished` after its end, with its pods. The version is a precondition: a Job
 * whose time was changed meanwhile is not deleted.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished/
 */
export async function deleteFinished(
  { client, context: { signal }, now }: WorkloadRunContext<typeof Job>,
  job: JobObject,
): Promise<ReconcileResult<typeof Job>> {
  const { uid, resourceVersion, deletionTimestamp } = job.metadata;
  const { ttlSecondsAfterFinished } = job.spec;
  const finishedAt = finishedCondition(job.status)?.lastTransitionTime;
  if (ttlSecondsAfterFinished === undefined || finishedAt == null || deletionTimestamp !== undefined)
    return {};
  const wait = Date.parse(finishedAt) + ttlSecondsAfterFinished * 1_000 - now().getTime();
  if (wait > 0) return requeueIn(wait);
  const preconditions = { uid, resourceVersion, propagationPolicy: "Foreground" } as const;
  await client.delete(refOf(Job), keyOf(job), { ...preconditions, signal });
  return {};
}
