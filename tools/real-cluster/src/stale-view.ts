import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { killAll, onFreePort, startForwarder } from "@drover/local-servers";
import { type ApiServerOptions, startApiServer } from "./api-server.ts";
import { writeKubeconfig } from "./client-files.ts";

/**
 * A second API server on the same etcd, with a link that can be frozen: no byte passes, and no connection ends. From then
 * on it is an API server that lags behind more and more.
 *
 * Requests that its watch cache can answer get the state at the moment of the freeze: a get or a list with
 * `resourceVersion=0` or an older version. Watches stay open without events. Requests that need etcd hang: a get or a list
 * without a version, and every write. docs/fault-proxy.md has the measurements.
 */
export interface StaleView {
  /** As the cluster's, for this server. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly freeze: () => void;
  /** Ends a freeze. The server catches up within seconds. */
  readonly thaw: () => void;
  readonly stop: () => Promise<void>;
}

export async function startStaleView(
  { etcdSocket, ...settings }: Omit<ApiServerOptions, "etcdEndpoint"> & { readonly etcdSocket: string },
  signal: AbortSignal | undefined,
): Promise<StaleView> {
  const dir = await mkdtemp(join(settings.dir, "view-"));
  await using opening = new AsyncDisposableStack();
  const link = opening.adopt(await startForwarder(etcdSocket), (one) => one.stop());
  const endpoints = { ...settings, dir, etcdEndpoint: `http://127.0.0.1:${link.port}` };
  const { child, port } = await onFreePort(async (port) => {
    return { child: await startApiServer(endpoints, port, signal), port };
  });
  opening.defer(() => killAll([child]));
  const url = `https://127.0.0.1:${port}`;
  const kubeconfig = await writeKubeconfig(dir, url, settings.pki);
  const opened = opening.move();
  return {
    url,
    kubeconfig,
    freeze: () => link.hold(),
    thaw: () => link.mend(),
    stop: () => opened.disposeAsync(),
  };
}
