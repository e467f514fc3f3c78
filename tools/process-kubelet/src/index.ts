/**
 * # @drover/process-kubelet
 *
 * A small Kubernetes node that runs the commands of Pods as local processes, so that a deployment can be shown and tested
 * where there are no containers. It works against the sandbox and against a bare kube-apiserver: it does the work of
 * scheduler, kubelet and kube-proxy, each with only the necessary parts. The README lists its limits.
 *
 * How a Pod is run:
 *   start-node.ts                  the Node object, a watch of all Pods and one of all Services
 *   pods/node-pods.ts              the Pods of this node; pod-binder.ts binds Pods that are on no node
 *   pods/pod-run.ts                one Pod, from its first event to its end: address, volumes, containers, deletion
 *   pods/pod-status.ts             (pure) containers -> status; status-writer.ts writes changes
 *   containers/container-run.ts    one container: prepare, start, probe, wait, restart
 *   containers/launch.ts           image and container -> command, environment, folder
 *   services/service-proxy.ts      listens on Services' addresses and passes connections on to Ready Pods
 *
 * Guarantees: no process outlives the node. A Pod is removed only after its processes have ended. A Pod that needs an
 * unsupported feature is Failed, with the reason in its status.
 */
export { type Images, imagesOf, imagesSchema } from "./images.ts";
export type { BackOff } from "./containers/restart-delay.ts";
export { type LocalNode, type NodeOptions, startNode } from "./start-node.ts";
