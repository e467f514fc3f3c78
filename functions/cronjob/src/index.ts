/**
 * # @drover/cronjob
 *
 * Reconciles CronJobs as kube-controller-manager 1.36 does. How a change flows: `cron-job-controller` (the watched kinds),
 * `reconcile-cron-job` (the steps of one run), `clean-up-jobs`, `follow-jobs`, `start-due`; `due-time` and `schedule/` say
 * when.
 */
export { cronJobController } from "./cron-job-controller.ts";
export { default as cronJobFunction } from "./function.ts";
