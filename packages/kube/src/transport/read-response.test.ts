import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ConnectionError, MalformedReplyError } from "../errors.ts";
import { readResponse, type ResponseRequest } from "./read-response.ts";

let serve: (response: ServerResponse) => void;
const server = createServer((_request, response) => {
  serve(response);
});
const dispatcher = new Agent();
let origin: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await dispatcher.destroy();
  server.closeAllConnections();
  server.close();
});

const responseOf = (more: Partial<ResponseRequest> = {}) =>
  readResponse({
    dispatcher,
    name: "GET /x",
    limit: 4,
    signal: new AbortController().signal,
    request: { origin, path: "/x", method: "GET" },
    ...more,
  });

it("reads a body of exactly the limit", async () => {
  serve = (response) => response.writeHead(201, { a: "b" }).end("abcd");
  const { status, headers, body } = await responseOf();
  expect([status, headers["a"], Buffer.from(body).toString()]).toEqual([201, "b", "abcd"]);
});

it("refuses a larger body", async () => {
  serve = (response) => response.end("abcde");
  await expect(responseOf()).rejects.toBeInstanceOf(MalformedReplyError);
});

it.each([
  ["before an answer", () => undefined],
  ["in the middle of a body", (response: ServerResponse) => void response.write("a")],
])("a request that is aborted %s rejects at once with the reason", async (_, answer) => {
  const asked = Promise.withResolvers<undefined>();
  serve = (response) => {
    answer(response);
    asked.resolve(undefined);
  };
  const given = new AbortController();
  const reply = responseOf({ signal: given.signal });
  await asked.promise;
  const reason = new Error("The lease is over.");
  given.abort(reason);
  await expect(reply).rejects.toBe(reason);
});

it("an interrupted answer is a connection error", async () => {
  serve = (response) => {
    response.write("a");
    response.destroy();
  };
  await expect(responseOf()).rejects.toBeInstanceOf(ConnectionError);
});
