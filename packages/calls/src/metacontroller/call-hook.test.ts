import { RetryAfterError, RetryError, TerminalError } from "@drover/controller";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { contextOf, runOf } from "../calling.fixture.ts";
import { maxAnswerBytes, maxCallBytes } from "../call-function.ts";
import { callHook } from "./call-hook.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
beforeEach(async () => {
  server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const call = (request: object = { parent: {} }) => {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sync`);
  const target = () => Promise.resolve({ url, address: "127.0.0.1" });
  const parts = { target, agent: new Agent(), scalesToZero: false, now: () => now };
  return callHook(parts, contextOf(runOf()), request);
};
const failure = (): Promise<unknown> =>
  call().then(
    () => undefined,
    (error: unknown) => error,
  );

it("posts the request as JSON, and returns the body of the answer", async () => {
  const requests: unknown[] = [];
  answer = async (request, response) => {
    const { method, url, headers } = request;
    requests.push([method, url, headers["content-type"], JSON.parse((await buffer(request)).toString())]);
    response.writeHead(200).end('{"children":[]}');
  };
  expect(Buffer.from(await call({ parent: { a: 1 } })).toString()).toBe('{"children":[]}');
  expect(requests).toEqual([["POST", "/sync", "application/json", { parent: { a: 1 } }]]);
});

it.each([201, 204, 400, 404, 500, 503])("%d is a failure, without the text of the answer", async (status) => {
  answer = (_, response) => response.writeHead(status).end(status === 204 ? undefined : "hunter2");
  const error = await failure();
  expect(error).toBeInstanceOf(RetryError);
  expect(error).toMatchObject({
    reason: "HookFailed",
    message: expect.stringMatching(
      new RegExp(`^The hook /sync at 127.*answered ${status} instead of 200`),
    ) as string,
  });
  expect(String(error)).not.toContain("hunter2");
});

it("a redirect is not followed", async () => {
  answer = (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end();
  expect(await failure()).toMatchObject({ reason: "Redirected" });
});

it.each([
  ["7", "7000ms"],
  ["Thu, 01 Jan 2026 00:01:00 GMT", "60000ms"],
  ["Wed, 31 Dec 2025 00:00:00 GMT", "1000ms"],
  ["soon", "1000ms"],
  ["999999999", "86400000ms"],
])("429 with Retry-After %s is a wait of %s", async (retryAfter, after) => {
  answer = (_, response) => response.writeHead(429, { "retry-after": retryAfter }).end();
  const error = await failure();
  expect(error).toBeInstanceOf(RetryAfterError);
  expect(error).toMatchObject({ after, reason: "HookBusy" });
});

it("an answer that is too large, or does not come, is a failure", async () => {
  answer = (_, response) => response.writeHead(200).end(Buffer.alloc(maxAnswerBytes + 1));
  expect(await failure()).toMatchObject({ reason: "NotAnswered" });
  answer = (request) => request.socket.destroy();
  expect(await failure()).toMatchObject({ reason: "NotAnswered" });
});

it("sends no request that is too large", async () => {
  answer = () => expect.fail("It was sent.");
  const error = await call({ text: "x".repeat(maxCallBytes) }).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(TerminalError);
  expect(error).toMatchObject({ reason: "TooLarge" });
});
