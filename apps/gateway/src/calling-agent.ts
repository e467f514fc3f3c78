import type { Milliseconds } from "@drover/controller";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

/**
 * How long a connection is kept without a call. Less than a server keeps one (5 s in Node.js and uvicorn): a call on a
 * connection that its server is just closing would fail. The difference covers a busy event loop, too.
 */
export const idleTime: Milliseconds = 2_000;

/** Connections to a called function, which calls share one after another. A call may take any time. */
export function callingAgent(protocol: string, calls: number, idle = idleTime): HttpAgent {
  const options = { keepAlive: true, timeout: idle, maxFreeSockets: calls, keepAliveMsecs: 1_000 };
  return protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
}
