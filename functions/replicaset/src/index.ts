/**
 * # @drover/replicaset
 *
 * ReplicaSets, as kube-controller-manager 1.36 reconciles them. How a change flows: `replica-set-controller` (what it
 * follows), `reconcile-replica-set` (one run, in order), `find-pods`, `keep-replicas` (create or delete), `replica-set-status`.
 */
export { replicaSetController } from "./replica-set-controller.ts";
