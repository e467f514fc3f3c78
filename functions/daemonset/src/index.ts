/**
 * # @drover/daemonset
 *
 * Reconciles DaemonSets as kube-controller-manager 1.36 does. How a change flows: `daemon-set-controller` (the watched
 * kinds), `reconcile-daemon-set` (the steps of one run), then
 *
 * - `pods/find-pods`: adopt, release, and group the pods by their nodes
 * - `revision/find-revisions`: the history, with a revision for the current template; `revision/trim-history` shortens it
 * - `nodes/placement`: should a node run a pod, may it keep one
 * - `pods/plan-pods`, `rollout/rolling-update`: the pods to create and to delete; `pods/apply-changes` does it
 */
export { daemonSetController } from "./daemon-set-controller.ts";
export { default as daemonSetFunction } from "./function.ts";
