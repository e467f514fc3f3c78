/**
 * # @drover/deployment
 *
 * Reconciles Deployments as kube-controller-manager 1.36 does. A run reads a Deployment and its ReplicaSets, decides,
 * and writes. Decisions are pure functions (`decide` and those that it calls), which use neither a cluster nor a clock:
 *
 * - `deployment-controller`: the watched kinds; `reconcile-deployment`: the steps of one run; `find-sets`.
 * - `decide`: selects what happens to a Deployment: paused, rolled back, scaled, recreated, rolled.
 * - `draft`: the data that a decision changes; `revision`, `new-set`, `proportional-scaling`, `roll`, `recreate`,
 *   `history`.
 * - `deployment-status`, `progress`: the status. `carry-out`: the writes.
 */
export { deploymentController } from "./deployment-controller.ts";
export { default as deploymentFunction } from "./function.ts";
