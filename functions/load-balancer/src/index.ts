/**
 * # @drover/load-balancer
 *
 * The controller of `LoadBalancer` objects: each is a network load balancer of AWS for the Service of the same name. It is
 * also the example of docs/external-resources.md. Read it in this order:
 *
 * - `load-balancer.ts`: the resource. Its schemas are the CRD and the types.
 * - `service.ts`: what the Service asks for, and the address that it gets. `targets.ts`: where its connections go.
 * - `elb/elb-port.ts`: the port: observe, create, update, delete. `elb/settings/`: how each setting is read and written.
 * - `@drover/external`: everything around the port: ownership, creation, adoption, drift, deletion.
 */
export { LoadBalancer } from "./load-balancer.ts";
export { loadBalancerController } from "./load-balancer-controller.ts";
export { type ElbConfig, elbConfigSchema } from "./config.ts";
export { type LoadBalancerPorts, elbPorts } from "./elb/elb-port.ts";
