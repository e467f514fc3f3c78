/**
 * # @drover/job
 *
 * Reconciles Jobs as kube-controller-manager 1.36 does, and deletes finished ones after `ttlSecondsAfterFinished`. How a
 * change flows: `job-controller` (the watched kinds), `reconcile-job` (the steps of one run), then
 *
 * - `pods/find-pods`: adopt, release, and see what has come of each pod
 * - `end/evaluate-end`: does the Job end, and why; `end/job-status` finishes it, `end/delete-finished` deletes it
 * - `pods/manage-pods`: create or delete pods
 * - `tracking/track-finished`: count pods that have ended; `tracking/free-pods` frees those that no Job counts
 */
export { jobController } from "./job-controller.ts";
export { finishedCondition, Job, type JobObject, jobSchema } from "./job.ts";
export { default as jobFunction } from "./function.ts";
