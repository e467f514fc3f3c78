import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { killAll, onFreePort, type TiedProcess } from "@drover/local-servers";
import { aggregationFlags } from "./aggregation.ts";
import { startApiServer } from "./api-server.ts";
import { buildRealCluster, type Target } from "./build.ts";
import { writeKubeconfig, writeKubectl } from "./client-files.ts";
import type { ControlPlane } from "./control-plane-client.ts";
import { startEtcd } from "./etcd.ts";
import { type StaleView, startStaleView } from "./stale-view.ts";
import { type CertifiedUser, createPki, type Pki, signClient } from "./pki.ts";
import { switchable } from "./switchable.ts";

export interface StartOptions {
  /** Ends the start, and all that was begun. Once the cluster is there it is ended by `stop` alone. */
  readonly signal?: AbortSignal;
  /** Where the cluster makes a folder of its own; by default the system's folder for temporary files. */
  readonly dir?: string;
  /** Gets the progress of a build. */
  readonly log?: (line: string) => void;
  /** More flags for the API server, as in `--event-ttl=10m`. */
  readonly apiServerArgs?: readonly string[];
}

/** A flag for an API server that checks who sets an owner reference that blocks deletion, as OpenShift's does. */
export const ownersAreChecked = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement";

/** An etcd and an API server that run for you until you stop them. */
export interface RealCluster {
  /** Path of a kubeconfig that may do everything (a client certificate, in `system:masters`). */
  readonly kubeconfig: string;
  /** Path of a kubectl for this cluster, which ignores KUBECONFIG. */
  readonly kubectl: string;
  /** `https://127.0.0.1:PORT`; stays the same when the API server is started again. */
  readonly url: string;
  /** The cluster's folder: data, keys, `etcd.log`, `kube-apiserver.log`. */
  readonly dir: string;
  /** The ids of the processes that run now; each leads a process group. */
  pids(): number[];
  /** Writes a kubeconfig for a user with a certificate of the cluster's authority, and gives its path. */
  kubeconfigFor(user: CertifiedUser): Promise<string>;
  /** A token of a ServiceAccount, for 24 hours. */
  tokenOf(namespace: string, account: string): Promise<string>;
  /** Writes a kubeconfig with nothing but a token of a ServiceAccount, and gives its path. */
  kubeconfigOfAccount(namespace: string, account: string): Promise<string>;
  /**
   * Takes the API server down, the data stays. By default it is killed, as in a crash; with SIGTERM it ends its
   * watches and leaves in order, which takes it a second or more. Does nothing when it is down.
   */
  stopApiServer(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /**
   * Brings the API server back, on the same port and with the same data, and waits until it is ready. Does nothing
   * when it is up.
   *
   * @throws when it does not start, with the last lines of its log
   */
  startApiServer(): Promise<void>;
  /**
   * Starts another API server on the same etcd, which can be cut off from it and then serves an old state.
   * It ends with the cluster.
   */
  startStaleView(): Promise<StaleView>;
  /** Ends every process and removes the folder. May be called again. */
  stop(): Promise<void>;
}

/**
 * Builds the programs where they are missing (minutes, the first time) and starts a cluster of its own: free port,
 * own keys, own folder. Resolves when the API server is ready; the first list of a new kind may still be answered
 * with 429, once.
 *
 * @throws when Go is missing, or a program does not start: the message carries the last lines of its log
 */
export async function startRealCluster(options: StartOptions = {}): Promise<RealCluster> {
  return (await startApiServerOnEtcd(options, {})).cluster;
}

/** Settings for a cluster with more than an API server. */
interface ControlPlaneOptions {
  /** The programs to build. Default: those of the API server. */
  readonly targets?: readonly Target[];
  readonly serviceAccounts?: boolean;
  /** True if the API server passes requests on to servers of other API groups (APIService). */
  readonly aggregation?: boolean;
}

/** As `startRealCluster`; returns also the folder of programs and the keys, to start more programs. */
export async function startApiServerOnEtcd(
  options: StartOptions,
  { targets, serviceAccounts = false, aggregation = false }: ControlPlaneOptions,
): Promise<{ readonly cluster: RealCluster; readonly bin: string; readonly pki: Pki }> {
  const { signal, dir: parent = tmpdir(), log, apiServerArgs = [] } = options;
  const { bin } = await buildRealCluster({ signal, ...(log && { log }), ...(targets && { targets }) });
  const dir = await mkdtemp(join(parent, "drover-real-"));
  const running: TiedProcess[] = [];
  const views: StaleView[] = [];
  const cleanUp = async () => {
    await Promise.all(views.map((view) => view.stop()));
    await killAll(running);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const pki = await createPki({ bin, dir });
    const etcd = await startEtcd({ bin, dir, signal });
    running.push(etcd.process);
    const settings = {
      bin,
      dir,
      pki,
      etcdEndpoint: etcd.endpoint,
      extraArgs: [...apiServerArgs, ...(aggregation ? await aggregationFlags(bin, pki.folder) : [])],
      serviceAccounts,
    };
    const { child, port } = await onFreePort(async (port) => {
      return { child: await startApiServer(settings, port, signal), port };
    });
    running.push(child);
    const url = `https://127.0.0.1:${port}`;
    const kubeconfig = await writeKubeconfig(dir, url, pki);
    const kubectl = await writeKubectl(dir, { bin, kubeconfig });
    const apiServer = switchable(child, (closing) => startApiServer(settings, port, closing));
    const cluster: RealCluster = {
      kubeconfig,
      kubectl,
      url,
      dir,
      pids: () => [etcd.process.pid, apiServer.pid()].filter((pid) => pid !== undefined),
      ...accessTo({ bin, dir, pki, url }, kubectl),
      stopApiServer: (how = "SIGKILL") => apiServer.down(how),
      startApiServer: () => apiServer.up(),
      async startStaleView() {
        const view = await startStaleView({ ...settings, etcdSocket: etcd.socketPath }, undefined);
        views.push(view);
        return view;
      },
      stop: () => apiServer.close().then(cleanUp),
    };
    return { cluster, bin, pki };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

type Access = Pick<RealCluster, "kubeconfigFor" | "tokenOf" | "kubeconfigOfAccount">;

/** Writes the credentials of users and ServiceAccounts of a cluster. */
function accessTo({ bin, dir, pki, url }: ControlPlane, kubectl: string): Access {
  const write = (credentials: Parameters<typeof writeKubeconfig>[2]) =>
    writeKubeconfig(dir, url, credentials, `kubeconfig-${randomUUID()}`);
  const tokenOf: Access["tokenOf"] = async (namespace, account) => {
    const args = ["create", "token", account, "-n", namespace, "--duration=24h"];
    return (await promisify(execFile)(kubectl, args)).stdout.trim();
  };
  return {
    kubeconfigFor: async (user) => write({ admin: await signClient(bin, pki.folder, user) }),
    tokenOf,
    kubeconfigOfAccount: async (...account) => write({ admin: pki.admin, token: await tokenOf(...account) }),
  };
}
