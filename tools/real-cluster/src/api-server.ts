import { join } from "node:path";
import { answersOk, spawnTied, waitUntilReady, type TiedProcess } from "@drover/local-servers";
import type { Pki } from "./pki.ts";

// It starts in three seconds; but four of them on a busy machine with two cores do not.
const patienceMs = 120_000;

export interface ApiServerOptions {
  readonly bin: string;
  /** For `kube-apiserver.log`. */
  readonly dir: string;
  readonly pki: Pki;
  readonly etcdEndpoint: string;
  /**
   * Where pods reach it, for a cluster that has a node and a controller manager. Left out: it is on loopback alone, and
   * accepts pods without a ServiceAccount unless `serviceAccounts` is true.
   */
  readonly nodeAddress?: string;
  /** True where a controller manager makes ServiceAccounts, so that pods can be asked to have one. */
  readonly serviceAccounts?: boolean;
  readonly extraArgs: readonly string[];
}

/**
 * Starts an API server on 127.0.0.1:`port` and waits until it is ready, with the namespace `default` made.
 *
 * @throws StartError when it does not become ready; it is gone then
 */
export async function startApiServer(
  options: ApiServerOptions,
  port: number,
  signal: AbortSignal | undefined,
): Promise<TiedProcess> {
  const { bin, dir, pki, extraArgs } = options;
  const child = await spawnTied({
    name: "kube-apiserver",
    command: join(bin, "kube-apiserver"),
    args: [...flags(options, port), ...extraArgs],
    cwd: dir,
    // Garbage collection takes an eighth of its CPU otherwise.
    env: { GOGC: "300" },
    logFile: join(dir, "kube-apiserver.log"),
  });
  // Another server on this port has no certificate of our authority, so it cannot be mistaken for ours.
  const answers = (path: string) => answersOk({ ...pki.admin, host: "127.0.0.1", port, path });
  const isReady = async () => (await answers("/readyz")) && (await answers("/api/v1/namespaces/default"));
  await waitUntilReady(child, isReady, { timeoutMs: patienceMs, signal });
  return child;
}

function flags(options: ApiServerOptions, port: number): string[] {
  const { pki, etcdEndpoint, nodeAddress, serviceAccounts = nodeAddress !== undefined } = options;
  const file = (name: string) => join(pki.folder, name);
  return [
    ...(nodeAddress === undefined ? onLoopback : besideANode(nodeAddress, file)),
    // Pods need a ServiceAccount `default`, which only a controller manager creates.
    ...(serviceAccounts ? [] : ["--disable-admission-plugins=ServiceAccount"]),
    `--etcd-servers=${etcdEndpoint}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${file("apiserver.crt")}`,
    `--tls-private-key-file=${file("apiserver.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${file("sa.pub")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    // Services may have addresses of both families.
    "--service-cluster-ip-range=10.0.0.0/16,fd00:10::/112",
    "--authorization-mode=Node,RBAC",
    "--allow-privileged=true",
  ];
}

const onLoopback = [
  "--bind-address=127.0.0.1",
  "--advertise-address=127.0.0.1",
  // It would publish the loopback address as an endpoint, which is refused.
  "--endpoint-reconciler-type=none",
];

/** The node has a network of its own, in which all addresses are ours. */
const besideANode = (address: string, file: (name: string) => string): readonly string[] => [
  "--bind-address=0.0.0.0",
  `--advertise-address=${address}`,
  // For logs and exec.
  `--kubelet-client-certificate=${file("admin.crt")}`,
  `--kubelet-client-key=${file("admin.key")}`,
  "--kubelet-preferred-address-types=InternalIP",
];
