import { once } from "node:events";
import type { Server } from "node:http";

export interface ListenOnOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Names the settings for host and port, in the error when the port is taken. */
  readonly settings: string;
}

/** Has a server listen, and returns its URL. Rejects with what to do when the port is taken. */
export async function listenOn(server: Server, { host, port, settings }: ListenOnOptions): Promise<string> {
  server.listen(port, host);
  await once(server, "listening").catch((cause: unknown) => {
    throw new Error(`Cannot listen on ${host}:${port}. Free the port, or set ${settings}.`, { cause });
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
}
