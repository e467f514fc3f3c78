/**
 * # @drover/node
 *
 * A small Kubernetes node that runs the commands of pods as local processes, so that what is deployed to a cluster can
 * be shown and tested where there are no containers. It works against the sandbox and against a bare kube-apiserver:
 * it is scheduler, kubelet and kube-proxy at once, each as little as that takes. What it is not is in the README.
 *
 * How a pod is run:
 *   start-node.ts       the Node object, a watch of all Pods and one of all Services
 *   node-pods.ts        which pods are this node's: pod-binder.ts takes those that are on none
 *   pod-run.ts          one pod, from first sight to its end: address, volumes, containers, deletion
 *   container-run.ts    one container: prepare, start, probe, wait, start again
 *   launch.ts           image and container -> command, environment, folder; environment.ts, volumes.ts, references.ts
 *   pod-status.ts       (pure) containers -> status; status-writer.ts writes what has changed
 *   service-proxy.ts    listens on Services' addresses and passes connections on to Ready pods
 *
 * Guarantees: no process outlives the node; a pod is gone only after its processes are; a pod that asks for what the
 * node cannot do is Failed and says why.
 */
export { type Images, imagesOf, imagesSchema } from "./images.ts";
export type { BackOff } from "./restart-delay.ts";
export { type LocalNode, type NodeOptions, startNode } from "./start-node.ts";
