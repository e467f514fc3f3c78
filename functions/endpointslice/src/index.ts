/**
 * # @drover/endpointslice
 *
 * Reconciles the EndpointSlices of Services as kube-controller-manager 1.36 does: the addresses of the pods that a Service
 * selects, for kube-proxy and others. How a change flows: `endpoint-slice-controller` (the watched kinds),
 * `reconcile-service` (the steps of one run), then
 *
 * - `pods/`: the endpoint of each pod (`endpoint`), its ports (`endpoint-ports`), its zone (`read-nodes`)
 * - `slices/plan-slices`: which slices to create, update and delete; `slices/pack-endpoints` distributes endpoints over them
 * - `hints/`: the zones and nodes that an endpoint is for
 * - `slices/write-slices`: the writes
 */
export { endpointSliceController } from "./endpoint-slice-controller.ts";
export { default as endpointSliceFunction } from "./function.ts";
