import { once } from "node:events";
import { type Agent, createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { callingAgent } from "./calling-agent.ts";

const server = createServer();
/** It never closes a connection itself. */
server.keepAliveTimeout = 0;
beforeEach(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
let agent: Agent;
afterEach(() => {
  agent.destroy();
  server.removeAllListeners("request");
  server.closeAllConnections();
  server.close();
});

const call = async (): Promise<string> => {
  const { port } = server.address() as AddressInfo;
  const sent = request({ agent, port, host: "127.0.0.1", method: "POST" }).end("{}");
  const [reply] = (await once(sent, "response")) as [NodeJS.ReadableStream];
  return text(reply);
};

it("closes a connection without calls itself, and cuts no call off that takes longer", async () => {
  agent = callingAgent("http:", 2, 20);
  const [idleIsClosed, slow] = [Promise.withResolvers<unknown>(), Promise.withResolvers<ServerResponse>()];
  let calls = 0;
  server.on("request", (incoming, response) => {
    calls += 1;
    if (calls === 1) {
      slow.resolve(response);
    } else {
      incoming.socket.once("close", idleIsClosed.resolve);
      response.end("fast");
    }
  });
  const first = call();
  const held = await slow.promise;
  expect(await call()).toBe("fast");
  await idleIsClosed.promise;
  held.end("slow");
  expect(await first).toBe("slow");
});

it("uses a connection again for the next call", async () => {
  agent = callingAgent("http:", 2, 60_000);
  const sockets = new Set<Socket>();
  server.on("request", (incoming, response) => {
    sockets.add(incoming.socket);
    response.end("done");
  });
  await call();
  await call();
  expect(sockets.size).toBe(1);
});
