import { signMessage } from "@drover/webhook";
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listen } from "../../harness/listen.ts";
import { callAt, secret } from "./listeners.ts";

export interface Answered {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Signed with the function's secret, under the id of the call. */
  readonly isSigned: boolean;
}

/** A call that takes longer has accepted a 202, and waits for a completion that never comes. */
const patience = 5_000;

/** Calls a server with this answer, as the gateway would. Resolves with the answer or error that the runtime gets, or `waits`. */
export async function callOf({ status, body, headers = {}, isSigned }: Answered): Promise<unknown> {
  const server = createServer((incoming, response) => {
    incoming.resume().once("end", () => {
      const id = String(incoming.headers["webhook-id"]);
      const signature = isSigned ? signMessage([secret], { id, at: Date.now() }, body) : {};
      response.writeHead(status, { ...headers, ...signature }).end(body);
    });
  });
  const port = await listen(server);
  try {
    const called = callAt(port);
    return await Promise.race([called, delay(patience, "waits", { ref: false })]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
