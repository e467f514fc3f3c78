/**
 * # @drover/replicaset
 *
 * Reconciles ReplicaSets as kube-controller-manager 1.36 does. How a change flows: `replica-set-controller` (the
 * watched kinds), `reconcile-replica-set` (the steps of one run), `find-pods`, `keep-replicas` (create or delete),
 * `replica-set-status`.
 */
export { replicaSetController } from "./replica-set-controller.ts";
export { default as replicaSetFunction } from "./function.ts";
