import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { createApplication } from "./application.ts";
import { behindEntrance, type Entrance } from "./entrance.ts";
import type { Watch } from "../reading/watch.ts";

export interface ListenOptions extends Entrance {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

/** Serves an application at an address of its own. Rejects if the port is in use. */
export async function listen(
  app: ReturnType<typeof createApplication>,
  watches: ReadonlySet<Watch>,
  { host, port, ...entrance }: ListenOptions,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const serve = behindEntrance((incoming, outgoing) => void handle(incoming, outgoing), entrance);
  const server = createServer(serve);
  const taken = await new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const watch of watches) watch.end();
      setImmediate(() => server.closeAllConnections());
      await closed;
    },
  };
}
