/**
 * # @drover/deployer
 *
 * Deploys functions: the controller of `ReconcileFunction`, itself a function. Its process also looks after how many Pods
 * each function has. Read it in this order:
 *
 * - `deploy.ts`: what one run does, and in which order; `take-down.ts`: what is done before one is gone.
 * - `permits/permit.ts`: whether a function may be deployed at all, and with which permissions.
 * - `function-objects.ts`, `pod-template.ts`: what there is to be in the cluster for it. `keep-object.ts` keeps it so.
 * - `function-secrets.ts`: its own user of Redis, its signing key; `rotating-secret.ts`: how they are changed.
 * - `pods-wanted.ts`, `rescale.ts`: how many Pods; `function-rollout.ts`, `roll-out.ts`: of which revision.
 * - `scaler.ts`: notices that another number of Pods is wanted, and wakes the function's key; `repeated-wakes.ts`: how often.
 * - `stated-conditions.ts`: what is said of it.
 * - `function-keys.ts`: its keys in Redis, which are deleted with it; `sweep.ts`: what is left of those that are gone.
 *
 * What it holds to:
 *
 * - Nobody has a Pod run with permissions, or beside Secrets, that they do not have themselves.
 * - A Pod is asked to go, and has the time that its longest run may take.
 * - What somebody else made is never changed or deleted, whatever its name is.
 */
export { queuesOf } from "./function-queues.ts";
