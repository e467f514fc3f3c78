import { once } from "node:events";
import type { Server } from "node:http";

export interface ListenOnOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The names of the settings for host and port, for the error if the port is taken. */
  readonly settings: string;
}

/** Starts a server on a host and port, and returns its URL. Rejects with the remedy if it cannot listen there. */
export async function listenOn(server: Server, { host, port, settings }: ListenOnOptions): Promise<string> {
  server.listen(port, host);
  await once(server, "listening").catch((cause: unknown) => {
    throw new Error(`Cannot listen on ${host}:${port}. Free the port, or set ${settings}.`, { cause });
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
}
