/**
 * # @drover/deployer
 *
 * Deploys functions: the controller of `ReconcileFunction`, itself a function. Its process also looks after how many Pods
 * each function has. Read it in this order:
 *
 * - `function-controller.ts`: what one run does, and in which order.
 * - `is-in-use.ts`, `author.ts`: whether a function may be deployed at all, and with which permissions.
 * - `function-objects.ts`, `pod-template.ts`: what there is to be in the cluster for it. `keep-object.ts` keeps it so.
 * - `redis-login.ts`: its own user of Redis, and how its password is changed.
 * - `pods-wanted.ts`, `rescale.ts`: how many Pods; `roll-out.ts`: which to make and which to take away.
 * - `scaler.ts`: notices that another number of Pods is wanted, and wakes the function's key.
 * - `stated-conditions.ts`: what is said of it.
 *
 * What it holds to:
 *
 * - Nobody has a Pod run with permissions, or beside Secrets, that they do not have themselves.
 * - A Pod is asked to go, and has the time that its longest run may take.
 * - What somebody else made is never changed or deleted, whatever its name is.
 */
export { functionController, type FunctionControllerParts } from "./function-controller.ts";
export { clusterRoleOf, redisSecretOf, serviceNameOf, webhookSecretOf } from "./names.ts";
export { startScaler, type Scaler } from "./scaler.ts";
