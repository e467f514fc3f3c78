import type { Log, Milliseconds } from "@drover/controller";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Endpoint, ServicePort } from "./service.ts";

/**
 * Listens on the addresses of Services, and passes connections on: what kube-proxy is on a real node. As there, a
 * connection is refused while a Service has no endpoints: nothing listens then, so a client knows that it has sent nothing.
 */
export interface ServiceProxy {
  /** These ports, and no others, from now on. Connections that stand stay. */
  serve(ports: readonly ServicePort[]): void;
  /** To be called when endpoints may have changed. */
  update(): void;
  close(): Promise<void>;
}

export interface ServiceProxyOptions {
  /** The endpoints that accept connections now. */
  readonly endpoints: (port: ServicePort) => readonly Endpoint[];
  readonly log: Log;
}

/** How soon an address that could not be listened on is tried again. */
const retryDelay: Milliseconds = 1000;

interface ServiceListener {
  port: ServicePort;
  readonly server: Server;
  retry?: NodeJS.Timeout;
}

const nameOf = ({ host, port }: ServicePort): string => `${host}:${port}`;

export function serviceProxy({ endpoints, log }: ServiceProxyOptions): ServiceProxy {
  const listeners = new Map<string, ServiceListener>();
  const sockets = new Set<Socket>();
  let served: readonly ServicePort[] = [];
  let turn = 0;
  const take = (near: Socket, port: ServicePort): void => {
    const ready = endpoints(port);
    turn += 1;
    const chosen = ready[turn % Math.max(1, ready.length)];
    if (chosen === undefined) near.resetAndDestroy();
    else join(near, connect({ ...chosen, allowHalfOpen: true }), sockets);
  };
  const open = (port: ServicePort): void => {
    const server = createServer({ allowHalfOpen: true }, (near) => take(near, listener.port));
    const listener: ServiceListener = { port, server };
    server.on("error", (error) => {
      log.warn({ service: nameOf(port), err: error }, "Cannot listen for a Service; trying again");
      listener.retry = setTimeout(() => server.listen(port.port, port.host), retryDelay);
    });
    server.listen(port.port, port.host);
    listeners.set(nameOf(port), listener);
  };
  const shut = ({ port, server, retry }: ServiceListener): Promise<void> => {
    clearTimeout(retry);
    listeners.delete(nameOf(port));
    return new Promise((resolve) => server.close(() => resolve()));
  };
  const update = (): void => {
    const wanted = new Map(
      served.filter((port) => endpoints(port).length > 0).map((port) => [nameOf(port), port]),
    );
    for (const [name, listener] of listeners) if (!wanted.has(name)) void shut(listener);
    for (const [name, port] of wanted) {
      const there = listeners.get(name);
      if (there === undefined) open(port);
      else there.port = port;
    }
  };
  return {
    update,
    serve(ports) {
      served = ports;
      update();
    },
    async close() {
      served = [];
      const closed = [...listeners.values()].map(shut);
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}

/** One end breaks, both break; one end ends, the other may go on. */
function join(near: Socket, far: Socket, sockets: Set<Socket>): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(one);
    one.setNoDelay().on("error", () => other.destroy());
    one.on("close", () => {
      sockets.delete(one);
      other.destroySoon();
    });
    one.pipe(other);
  }
}
