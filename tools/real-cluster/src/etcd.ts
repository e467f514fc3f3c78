import { join } from "node:path";
import { answersOk, spawnTied, waitUntilReady, type TiedProcess } from "@drover/local-servers";

// macOS allows 104 bytes with the final zero, Linux 108.
const longestSocketPath = 103;

export interface EtcdOptions {
  readonly bin: string;
  /** For its data, its sockets and `etcd.log`. */
  readonly dir: string;
  readonly signal: AbortSignal | undefined;
}

export interface Etcd {
  readonly process: TiedProcess;
  /** For the API server's --etcd-servers. */
  readonly endpoint: string;
  readonly socketPath: string;
}

/**
 * Starts a single etcd and waits until it is ready. It listens on Unix sockets in `dir` and on no port, so no other
 * process can take its place, and only users of the folder reach its data.
 *
 * @throws StartError when it does not become ready; it is gone then
 */
export async function startEtcd(options: EtcdOptions): Promise<Etcd> {
  const { bin, dir, signal } = options;
  const socketPath = join(dir, "etcd.sock");
  if (Buffer.byteLength(socketPath) > longestSocketPath)
    throw new Error(`${dir} is too long a path for the sockets of etcd: choose a shorter \`dir\`.`);
  const endpoint = `unix://${socketPath}`;
  // etcd must advertise ports; with a single member they are not used.
  const advertised = "http://127.0.0.1:1";
  const process = await spawnTied({
    name: "etcd",
    command: join(bin, "etcd"),
    args: [
      "--name=drover",
      `--data-dir=${join(dir, "etcd")}`,
      `--listen-client-urls=${endpoint}`,
      `--advertise-client-urls=${advertised}`,
      // For this one it makes a file of just this name in the current folder.
      "--listen-peer-urls=unix://peer.sock:1",
      `--initial-advertise-peer-urls=${advertised}`,
      `--initial-cluster=drover=${advertised}`,
      // Its data need not survive a crash of the machine.
      "--unsafe-no-fsync",
      `--quota-backend-bytes=${8 * 1024 ** 3}`,
      "--log-level=warn",
    ],
    cwd: dir,
    logFile: join(dir, "etcd.log"),
  });
  const isHealthy = () => answersOk({ socketPath, path: "/health" });
  await waitUntilReady(process, isHealthy, { signal });
  return { process, endpoint, socketPath };
}
