import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { onFreePort, startForwarder } from "@drover/local-servers";
import { type ApiServerOptions, startApiServer } from "./api-server.ts";
import { writeKubeconfig } from "./client-files.ts";

/**
 * A second API server on the same etcd, with a link that can be frozen: no byte passes, and nothing ends. From then on
 * it is what an API server is that lags behind, without end.
 *
 * What it may tell from its watch cache it goes on telling, as of the moment of the freeze: a get or a list with
 * `resourceVersion=0` or an older version, and watches, which stand and tell nothing. What must ask etcd hangs: a plain
 * get or list, and every write. docs/fault-proxy.md has what was measured.
 */
export interface StaleView {
  /** As the cluster's, for this server. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly freeze: () => void;
  /** Takes back a freeze. It catches up within seconds. */
  readonly thaw: () => void;
  readonly stop: () => Promise<void>;
}

export async function startStaleView(
  { etcdSocket, ...settings }: Omit<ApiServerOptions, "etcdEndpoint"> & { readonly etcdSocket: string },
  signal: AbortSignal | undefined,
): Promise<StaleView> {
  const dir = await mkdtemp(join(settings.dir, "view-"));
  const link = await startForwarder(etcdSocket);
  const endpoints = { ...settings, dir, etcdEndpoint: `http://127.0.0.1:${link.port}` };
  try {
    const { child, port } = await onFreePort(async (port) => {
      return { child: await startApiServer(endpoints, port, signal), port };
    });
    const url = `https://127.0.0.1:${port}`;
    return {
      url,
      kubeconfig: await writeKubeconfig(dir, url, settings.pki),
      freeze: () => link.hold(),
      thaw: () => link.mend(),
      async stop() {
        child.kill("SIGKILL");
        await Promise.all([child.exited, link.stop()]);
      },
    };
  } catch (error) {
    await link.stop();
    throw error;
  }
}
