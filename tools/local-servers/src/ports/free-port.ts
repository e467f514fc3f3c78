import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere): those could take a
// server's port while it restarts, or even connect to themselves on it.
const FIRST = 20_000;
const LAST = 29_999;

/**
 * A port on 127.0.0.1 on which no process listens now. Another process may take it before you do, so prefer to let the
 * server bind port 0; where it cannot, use {@link onFreePort}.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port found on 127.0.0.1 between ${FIRST} and ${LAST}: stop what listens there.`);
}

/** True if a server could listen on this port of 127.0.0.1 now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Calls `start` with a free port, and again with another one when it rejects because another process took the port
 * in the meantime. `start` must leave nothing behind when it rejects.
 */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      return await start(port);
    } catch (error) {
      if (tries === 5 || (await isPortFree(port))) throw error;
    }
  }
}
