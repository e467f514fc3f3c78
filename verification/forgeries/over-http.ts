/** The listeners and the caller that ship, on loopback: forged messages go through Node's HTTP before they are verified. */
import { openAdmission, type PublicServer, servePublicly } from "@drover/runtime";
import type { HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import { Agent, createServer, request } from "node:http";
import { post } from "../../packages/calls/src/post.ts";
import { listen as listenOn } from "../harness/listen.ts";
import type { Sent } from "./sent.ts";

type App = Hono<{ Bindings: HttpBindings }>;

/** Sends messages to a listener; answers their status. */
export interface Line {
  readonly send: (sent: Sent) => Promise<number>;
  close(): Promise<void>;
}

/** @param app made with the admission of its server. */
export async function listen(
  path: string,
  app: (admission: ReturnType<typeof openAdmission>) => App,
): Promise<Line> {
  const admission = openAdmission(() => performance.now());
  const server: PublicServer = await servePublicly({
    app: app(admission),
    admission,
    host: "127.0.0.1",
    port: 0,
    settings: "",
  });
  const agent = new Agent({ keepAlive: true });
  return {
    send: ({ headers, body }) => statusOf(server.url + path, headers, body, agent),
    async close() {
      agent.destroy();
      await server.close(0);
    },
  };
}

/** 0 when no answer came. */
function statusOf(url: string, headers: Sent["headers"], body: Buffer, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const own = { "content-type": "application/json", "content-length": String(body.length) };
    const sent = request(url, { method: "POST", headers: { ...own, ...headers }, agent });
    sent.on("error", () => resolve(0));
    sent.on("response", (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
    });
    sent.end(body);
  });
}

/** Whether HTTP can carry these headers at all: others are tried in the process only. */
export const isSendable = ({ headers }: Sent): boolean =>
  Object.values(headers).every((value) => /^[\t\x20-\x7e\x80-\xff]{0,8000}$/.test(value));

/** A message as HTTP delivers it. */
export const arriving = ({ headers, body }: Sent): Sent => ({
  body,
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/^[\t ]+|[\t ]+$/g, "")]),
  ),
});

/** A reply as the gateway's client reads it from the network. */
export async function replyOf({ headers, body }: Sent) {
  const server = createServer((incoming, response) => {
    incoming.resume().once("end", () => response.writeHead(200, { ...headers }).end(body));
  });
  const port = await listenOn(server);
  const agent = new Agent();
  try {
    const target = { url: new URL(`http://127.0.0.1:${port}/`), address: "127.0.0.1" };
    const { signal } = new AbortController();
    return await post({ target, headers: {}, body: Buffer.from("{}"), most: 2 ** 20, agent, signal });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
