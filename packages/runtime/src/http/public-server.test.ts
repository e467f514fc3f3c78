import { Hono } from "hono";
import type { HttpBindings } from "@hono/node-server";
import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { openAdmission } from "./admission.ts";
import { type PublicServer, servePublicly } from "./public-server.ts";

/** A server that answers once the test resolves `answered`. */
async function serving() {
  const [asked, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get("/", async (c) => {
    asked.resolve(undefined);
    await answered.promise;
    return c.text("well");
  });
  const server: PublicServer = await servePublicly({
    app,
    admission: openAdmission(() => performance.now()),
    host: "127.0.0.1",
    port: 0,
    settings: "nothing",
  });
  return { server, asked, answered };
}

it("a server that closes finishes the requests in progress, and accepts no new ones", async () => {
  const { server, asked, answered } = await serving();
  const answer = fetch(server.url);
  await asked.promise;
  const closed = server.close(30_000);
  await expect(fetch(server.url)).rejects.toThrow();
  answered.resolve(undefined);
  expect(await (await answer).text()).toBe("well");
  await closed;
});

it("a server that closes aborts requests in progress after its grace period", async () => {
  const { server, asked } = await serving();
  const answer = fetch(server.url).then(
    () => "answered",
    () => "cut off",
  );
  await asked.promise;
  await server.close(10);
  expect(await answer).toBe("cut off");
});

it("an idle connection does not delay the close of a server", async () => {
  const { server } = await serving();
  const { hostname, port } = new URL(server.url);
  const idle = connect(Number(port), hostname);
  await once(idle, "connect");
  const ended = once(idle, "close");
  await server.close(10);
  await ended;
});

it("a request of HTTP/1.0 without a Host header is answered", async () => {
  const { server, answered } = await serving();
  answered.resolve(undefined);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.end("GET / HTTP/1.0\r\n\r\n");
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  expect(text).toMatch(/^HTTP\/1\.1 200 [^]*well$/);
  await server.close();
});
