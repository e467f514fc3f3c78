import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";

/** Connections of an API server to pods, made by a proxy on a Unix socket. */
export interface EgressProxy {
  /** The flags of the API server. */
  readonly apiServerArgs: readonly string[];
  close(): void;
}

/**
 * A kube-apiserver connects to no pod with an address of loopback (`pods/proxy`). With this proxy it connects to no pod at all:
 * it asks the proxy for the address in the pod's status, and the proxy connects to the one where the pod is.
 *
 * @param dir for the socket and the configuration.
 * @param addressOf where the pod with this address in its status is, on this machine.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/setup-konnectivity/
 */
export async function startEgressProxy(
  dir: string,
  addressOf: (address: string) => string,
): Promise<EgressProxy> {
  const open = new Set<Duplex>();
  const server = createServer().on("connect", ({ url = "" }, client: Duplex) => {
    const { hostname, port } = new URL(`tcp://${url}`);
    const pod = connect({ host: addressOf(hostname), port: Number(port) }, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(pod).pipe(client);
    });
    for (const [one, other] of [
      [client, pod],
      [pod, client],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy()).on("close", () => (open.delete(one), other.destroy()));
    }
  });
  const socket = join(dir, "egress.sock");
  server.listen(socket);
  await once(server, "listening");
  const config = join(dir, "egress.json");
  const connection = { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: socket } } };
  const egressSelections = [{ name: "cluster", connection }];
  const apiVersion = "apiserver.k8s.io/v1beta1";
  writeFileSync(
    config,
    JSON.stringify({ apiVersion, kind: "EgressSelectorConfiguration", egressSelections }),
  );
  return {
    apiServerArgs: [`--egress-selector-config-file=${config}`],
    close() {
      server.close();
      for (const one of open) one.destroy();
    },
  };
}
