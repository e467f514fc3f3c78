import {
  ensurePrograms,
  ownNamespaces,
  spawnTied,
  type TiedProcess,
  waitUntilReady,
} from "@drover/local-servers";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildRealCluster, nodeTargets } from "../build.ts";
import type { StartOptions } from "../start.ts";
import { readKubeconfig, writeKubeconfig } from "../client-files.ts";
import type { ChosenControllers } from "../controller-manager.ts";
import { askForControllers } from "./controllers-socket.ts";
import { type Reached, throughDoor } from "./door.ts";
import { childrenOf, type Entrance, entranceTo, type ExecOptions } from "./enter-namespaces.ts";
import { type InsideOptions, readyLine } from "./inside-options.ts";
import { apiServerPort, controllersName, doorName, registryAddress } from "./layout.ts";
import { sweptFolder } from "./swept-folder.ts";

/** A complete cluster with a node that runs pods, until it is stopped. */
export interface NodeCluster extends Entrance, ChosenControllers {
  /** Path of a kubeconfig that may do everything, for processes inside: for those that `spawn` starts. */
  readonly kubeconfig: string;
  /** The same for processes outside, such as this one. */
  readonly kubeconfigOutside: string;
  /** Runs kubectl as the administrator and answers what it writes. @throws FailedInsideError */
  kubectl(args: readonly string[], options?: ExecOptions): Promise<string>;
  /** Has a port of 127.0.0.1, outside, lead to an address inside: of a Service, a pod, or the node. */
  reach(host: string, port: number): Promise<Reached>;
  /**
   * `127.0.0.1:5000`: where, inside, images are pushed to, over plain HTTP. The node pulls every image from there,
   * whatever registry its name begins with: one pushed as `127.0.0.1:5000/drover/bridge:1` is `drover/bridge:1`, and
   * `any.host/drover/bridge:1`, to a pod.
   */
  readonly registry: string;
  /** The cluster's folder, which is the same inside: data, keys, `pod-logs` and a log of each of its programs. */
  readonly dir: string;
  /** The id, outside, of the first process of its namespaces. All others end with it. */
  readonly pid: number;
  /** Ends every process and removes the folder. May be called again. */
  stop(): Promise<void>;
}

/** The programs that a node needs, each with its Debian package. */
const programs = {
  containerd: "containerd",
  ctr: "containerd",
  crun: "crun",
  "host-local": "containernetworking-plugins",
  conntrack: "conntrack",
  iptables: "iptables",
  ip: "iproute2",
  tar: "tar",
  mount: "mount",
  unshare: "util-linux",
  nsenter: "util-linux",
};
/** The folder of network plugins, which are not on PATH. */
const pluginFolder = "/usr/lib/cni";

/**
 * Starts a cluster of its own with a node on which pods really run: etcd, the API server, controller manager,
 * scheduler, kubelet, kube-proxy, containerd, an image registry and CoreDNS, all in mount, network and process
 * namespaces of their own. Resolves when the node is ready. Builds and installs (apt-get) what is missing. Takes root, on Linux.
 *
 * The network has no way out, and the only names in it are those of Services and pods. Limits of memory, CPU and processes are not enforced.
 *
 * However this process ends, nothing is left: no process, mount, link, firewall rule or folder.
 *
 * @throws when something is missing or does not start: the message carries the last lines of its log
 */
export async function startClusterWithNode(options: StartOptions = {}): Promise<NodeCluster> {
  const { signal, dir: parent = tmpdir(), log, apiServerArgs = [] } = options;
  if (process.platform !== "linux") throw new Error("A cluster with a node needs Linux.");
  if (process.getuid?.() !== 0)
    throw new Error(
      "A cluster with a node makes namespaces, mounts and networks of its own: run this as root.",
    );
  await ensurePrograms(programs, { folders: [pluginFolder], ...(log && { log }) });
  const { bin } = await buildRealCluster({ targets: nodeTargets, signal, ...(log && { log }) });
  const folder = await sweptFolder(parent, "drover-cluster-");
  let namespaces: TiedProcess | undefined;
  const reached: Reached[] = [];
  const stop = async () => {
    for (const one of reached) one.close();
    await namespaces?.stop();
    await folder.close();
  };
  try {
    const dir = folder.path;
    namespaces = await startNamespaces({ bin, dir, apiServerArgs: [...apiServerArgs] }, signal);
    const [pid] = childrenOf(namespaces.pid);
    if (pid === undefined) throw new Error("The cluster ended as soon as it was ready.");
    folder.waitFor(pid);
    const entrance = entranceTo(pid);
    const reach = async (host: string, port: number) => {
      const one = await throughDoor(join(dir, doorName), host, port);
      reached.push(one);
      return one;
    };
    const kubeconfig = join(dir, "kubeconfig");
    return {
      ...entrance,
      ...askForControllers(join(dir, controllersName)),
      dir,
      pid,
      stop,
      reach,
      kubeconfig,
      registry: registryAddress,
      kubeconfigOutside: await writeOutside(dir, kubeconfig, (await reach("127.0.0.1", apiServerPort)).port),
      kubectl: (args, more) => entrance.exec([join(dir, "kubectl"), ...args], more),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The kubeconfig, but for the address. */
function writeOutside(dir: string, kubeconfig: string, port: number): Promise<string> {
  const admin = readKubeconfig(kubeconfig);
  return writeKubeconfig(dir, `https://127.0.0.1:${port}`, { admin }, "kubeconfig-outside");
}

async function startNamespaces(inside: InsideOptions, signal: AbortSignal | undefined): Promise<TiedProcess> {
  const [command, ...args] = ownNamespaces;
  const program = fileURLToPath(new URL("inside.ts", import.meta.url));
  let ready = false;
  const started = await spawnTied({
    name: "the cluster",
    command,
    args: [...args, process.execPath, program, JSON.stringify(inside)],
    logFile: join(inside.dir, "inside.log"),
    onLine: (line) => (ready ||= line === readyLine),
  });
  // All data is thrown away, so no process needs an orderly end.
  const namespaces = { ...started, stop: () => started.stop({ graceMs: 0 }) };
  await waitUntilReady(namespaces, () => Promise.resolve(ready), { timeoutMs: 180_000, signal });
  return namespaces;
}
