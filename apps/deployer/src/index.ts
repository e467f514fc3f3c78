/**
 * # @drover/deployer
 *
 * Deploys functions: the controller of `ReconcileFunction`, itself a function. Its process also controls the number of
 * Pods of each function. Read it in this order:
 *
 * - `deploy.ts`: the steps of one run; `take-down.ts`: the steps before a function is gone.
 * - `permits/permit.ts`: checks if a function may be deployed, and with which permissions.
 * - `function-objects.ts`, `pod-template.ts`: its objects in the cluster. `apply-object.ts` creates and restores them.
 * - `function-secrets.ts`: its own Redis user, its signing key; `rotate-secret.ts`: how they are changed.
 * - `pods-wanted.ts`, `rescale.ts`: how many Pods; `next-rollout.ts`, `plan-pod-changes.ts`: of which revision.
 * - `scaler.ts`: notices that another number of Pods is needed, and wakes the function's key; `wake-backoff.ts`: how
 *   often.
 * - `function-conditions.ts`: its conditions.
 * - `setup/`: what an installation needs before the first run. `redis-secrets.ts`: certificates, passwords and users of
 *   its Redis, `set-up-redis.ts`: how Redis gets them, `register-deployer.ts`: the deployer's own ReconcileFunction.
 * - `function-keys.ts`: deletes its keys in Redis with it; `sweep.ts`: deletes keys and users of functions that are
 *   gone.
 *
 * Guarantees:
 *
 * - No author can have a Pod run with permissions, or with access to Secrets, that the author does not have.
 * - A Pod is deleted with a grace period, in which its longest run can end.
 * - Objects of other owners are never changed or deleted, whatever their names are.
 */
export { queuesOf } from "./redis/function-queues.ts";
