// A real Kubernetes API server for tests: etcd and kube-apiserver, built from their Go modules and run as plain
// processes on loopback. No containers, no binaries from the net; Go is all it needs.
//
//   const cluster = await startRealCluster();
//   await execFile(cluster.kubectl, ["apply", "-f", "crd.yaml"]);
//   // ... point whatever you test at cluster.kubeconfig ...
//   await cluster.stop();
//
// The first start builds for minutes, later ones take seconds (../README.md has the figures). Every cluster has a
// folder, a port and keys of its own, so any number of them run side by side; and none of their processes outlives
// the one that started them, even when that is killed.
//
// It is an API server and nothing behind it: no controller manager, so there is no garbage collection by owner reference,
// deleted namespaces are not emptied, and ServiceAccounts are not created; no scheduler, no nodes. Where Kubernetes' controllers are
// to work there is `startClusterWithFakeNodes`: the whole control plane, and pods that only look as if they ran. Where
// pods are to run, there is `startClusterWithNode`: all of that, in namespaces of its own (root, Linux).
export { type AuditedRequest, type AuditLog, auditLog } from "./audit-log.ts";
export { buildHelm, buildKeda, buildRealCluster, type BuildOptions, type Target } from "./build.ts";
export { type ClientAccess, readKubeconfig } from "./client-files.ts";
export { type EgressProxy, startEgressProxy } from "./egress-proxy.ts";
export {
  delayAnnotation,
  disruptionAnnotation,
  exitCodeAnnotation,
  fateAnnotation,
  restartsAnnotation,
  whenDeletedAnnotation,
} from "./fake-nodes/stages.ts";
export {
  type FakeNodeCluster,
  type FakeNodeOptions,
  startClusterWithFakeNodes,
} from "./fake-nodes/start-with-fake-nodes.ts";
export { type Keda, startKeda } from "./keda/start-keda.ts";
export { type Reached } from "./node/door.ts";
export { type ExecOptions, FailedInsideError } from "./node/enter-namespaces.ts";
export { type NodeCluster, startClusterWithNode } from "./node/start-with-node.ts";
export type { CertifiedUser } from "./pki.ts";
export type { StaleView } from "./stale-view.ts";
export { ownersAreChecked, startRealCluster, type RealCluster, type StartOptions } from "./start.ts";
