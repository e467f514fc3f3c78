import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  answersOk,
  freePort,
  killAll,
  spawnTied,
  type TiedProcess,
  waitUntilReady,
} from "@drover/local-servers";
import { buildKeda } from "../build.ts";
import type { RealCluster } from "../start.ts";
import { installKeda, kedaNamespace, kubectlOf, mountCertificates } from "./install-keda.ts";

export interface KedaOptions {
  readonly signal?: AbortSignal;
  /** Gets the progress of a build. */
  readonly log?: (line: string) => void;
}

/** KEDA's operator and its metrics adapter, which run until they are stopped. */
export interface Keda {
  /** The metrics of the operator, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Ends both processes. KEDA's objects stay in the cluster. */
  stop(): Promise<void>;
}

/**
 * Installs KEDA by its own manifests, and starts its operator and metrics adapter as plain processes with the rights of
 * KEDA's ServiceAccount. KEDA makes its certificates itself. Resolves when the API server serves KEDA's metrics.
 *
 * The cluster needs `aggregation`, and a controller manager if HorizontalPodAutoscalers are to act. All listeners are on
 * loopback but one: the adapter's own metrics, on a free port, for whose address it has no flag.
 *
 * @throws when Go is missing, or a program does not start: the message carries the last lines of its log
 */
export async function startKeda(
  cluster: Pick<RealCluster, "dir" | "kubectl" | "kubeconfigOfAccount">,
  options: KedaOptions = {},
): Promise<Keda> {
  const { bin, sources } = await buildKeda(options);
  const kubectl = kubectlOf(cluster.kubectl);
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const [health, metrics, figures, served] = ports;
  await installKeda(kubectl, sources, served);
  const certificates = join(cluster.dir, "keda-certificates");
  await mkdir(certificates);
  const kubeconfig = await cluster.kubeconfigOfAccount(kedaNamespace, "keda-operator");
  const running: TiedProcess[] = [];
  const start = async (program: string, args: readonly string[]): Promise<TiedProcess> => {
    const child = await spawnTied({
      name: program,
      command: join(bin, program),
      args: [`--kubeconfig=${kubeconfig}`, `--cert-dir=${certificates}`, ...args],
      // As its Deployment does; the last one is in place of a file that a kubelet mounts.
      env: {
        POD_NAMESPACE: kedaNamespace,
        WATCH_NAMESPACE: "",
        KEDA_CLUSTER_OBJECT_NAMESPACE: kedaNamespace,
      },
      cwd: cluster.dir,
      logFile: join(cluster.dir, `${program}.log`),
    });
    running.push(child);
    return child;
  };
  const ready = async (child: TiedProcess, isReady: () => Promise<boolean>): Promise<void> =>
    waitUntilReady(child, isReady, { timeoutMs: 120_000, signal: options.signal });
  try {
    const operator = operatorArgs({ health, metrics, figures });
    // It makes a Secret, and ends: a kubelet mounts it when the container is started again.
    const first = await start("keda-operator", operator);
    await mountCertificates(kubectl, certificates);
    await first.stop();
    const probe = { host: "127.0.0.1", port: health, path: "/readyz" };
    await ready(await start("keda-operator", operator), () => answersOk(probe));
    const adapter = await start("keda-adapter", adapterArgs({ figures, served, kubeconfig, certificates }));
    const isServed = ["get", "--raw", "/apis/external.metrics.k8s.io/v1beta1"];
    await ready(adapter, () =>
      kubectl(...isServed).then(
        () => true,
        () => false,
      ),
    );
  } catch (error) {
    await killAll(running);
    throw error;
  }
  return {
    metrics: async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text(),
    stop: () => killAll(running),
  };
}

const operatorArgs = (ports: Readonly<Record<"health" | "metrics" | "figures", number>>) => [
  ...["--enable-cert-rotation=true", "--zap-log-level=info", "--zap-encoder=console"],
  // No webhook is installed.
  "--enable-webhook-patching=false",
  `--health-probe-bind-address=127.0.0.1:${ports.health}`,
  `--metrics-bind-address=127.0.0.1:${ports.metrics}`,
  `--metrics-service-bind-address=127.0.0.1:${ports.figures}`,
];

interface AdapterPlaces {
  /** The port of the operator's metrics service. */
  readonly figures: number;
  /** Its own port. */
  readonly served: number;
  readonly kubeconfig: string;
  readonly certificates: string;
}

const adapterArgs = ({ figures, served, kubeconfig, certificates }: AdapterPlaces) => [
  ...["authentication", "authorization", "lister"].map((what) => `--${what}-kubeconfig=${kubeconfig}`),
  ...["--bind-address=127.0.0.1", `--secure-port=${served}`, "--port=0", "--zap-log-level=error"],
  `--client-ca-file=${join(certificates, "ca.crt")}`,
  `--tls-cert-file=${join(certificates, "tls.crt")}`,
  `--tls-private-key-file=${join(certificates, "tls.key")}`,
  `--metrics-service-address=127.0.0.1:${figures}`,
  `--metrics-service-grpc-authority=keda-operator.${kedaNamespace}.svc.cluster.local`,
];
