/**
 * # @drover/deployment
 *
 * Deployments, as kube-controller-manager 1.36 reconciles them. A run reads a Deployment and its ReplicaSets, decides, and
 * writes; what is decided is pure (`decide` and below it), and knows neither a cluster nor a clock:
 *
 * - `deployment-controller`: what it follows; `reconcile-deployment`: one run, in order; `find-sets`.
 * - `decide`: which of the ways a Deployment goes: paused, rolled back, scaled, recreated, rolled.
 * - `draft`: what a decision changes, and says; `revision`, `new-set`, `proportional-scaling`, `roll`, `recreate`, `history`.
 * - `deployment-status`, `progress`: what is said of it. `carry-out`: the writes.
 */
export { deploymentController } from "./deployment-controller.ts";
