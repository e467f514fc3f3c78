import {
  ConflictError,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { claimIn, signed } from "@drover/webhook";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  calling,
  contextOf,
  otherSecret,
  reply,
  runOf,
  secret,
  startTestFunction,
  type TestFunction,
} from "./calling.fixture.ts";
import { callFunction, largestAnswer } from "./call-function.ts";

let fn: TestFunction;
beforeEach(async () => void (fn = await startTestFunction()));
afterEach(() => fn.close());

/** What a call came to. */
const outcome = async (promise: Promise<unknown>) =>
  promise.then(
    (answer) => answer,
    (error: unknown) => error,
  );
const called = (answer: TestFunction["answer"]) => {
  fn.answer = answer;
  return outcome(calling(fn.port).call());
};
const reasonOf = (error: unknown): unknown =>
  error instanceof RetryError || error instanceof TerminalError ? `${error.name} ${error.reason}` : error;

it("sends all that the contract names, signed, as a CloudEvent", async () => {
  const run = runOf({ claim: { ...runOf().claim, replaced: "o-0", trace: "00-a-b-01" } });
  const { call } = calling(fn.port);
  expect(await call(run)).toEqual({});
  const [{ call: body, incoming } = fail("no call")] = fn.calls;
  expect(body).toMatchObject({
    type: "dev.drover.reconcile.v1",
    audience: { name: "web/greetings", uid: "f-1" },
    kind: { group: "example.com", version: "v1", kind: "Greeting" },
    ...{ key: "web/ada", uid: "o-1", replaced: "o-0", generation: 3, token: run.token },
    ...{ reasons: ["Modified"], fails: 2, complete: "http://127.0.0.1:1/completions" },
  });
  expect(body.object.metadata).toEqual({
    ...{ name: "ada", namespace: "web", uid: "o-1", resourceVersion: "7", generation: 3 },
    annotations: { note: "kept" },
  });
  expect(incoming.headers).toMatchObject({
    ...{ "ce-specversion": "1.0", "ce-id": run.token, "ce-type": "dev.drover.reconcile.v1" },
    ...{ "ce-subject": "web/ada", "ce-source": "/drover/gateway/web/greetings", traceparent: "00-a-b-01" },
    ...{ "content-type": "application/json", "accept-encoding": "identity", "webhook-id": run.token },
  });
});

it("takes a signed answer, whole", async () => {
  const answer = {
    status: { text: "hi" },
    conditions: [{ type: "Warm", status: "True", reason: "Yes", message: "" }],
    ...{ requeueAfter: "30s", finalized: true, account: "a" },
  };
  expect(await called((call, response) => reply(call, response, answer))).toEqual(answer);
});

describe("an answer of 200 is not believed", () => {
  it.each<[string, TestFunction["answer"]]>([
    ["without a signature", (_call, response) => response.writeHead(200).end("{}")],
    ["signed with another secret", (call, response) => reply(call, response, {}, { with: [otherSecret] })],
    [
      "signed for another body",
      ({ token: id }, response) =>
        response.writeHead(200, signed([secret], { id, at: Date.now() }, "{}")).end("{ }"),
    ],
    ["signed under another id", (call, response) => reply(call, response, {}, { id: "other" })],
    ["signed long ago", (call, response) => reply(call, response, {}, { at: Date.now() - 301_000 })],
    ["signed for later", (call, response) => reply(call, response, {}, { at: Date.now() + 302_000 })],
  ])("%s", async (_what, answer) => {
    expect(reasonOf(await called(answer))).toBe("RetryError Unsigned");
  });

  it.each<[string, TestFunction["answer"]]>([
    ["that is the call itself, with its own signature", (call, response) => reply(call, response, call)],
    ["that is no JSON", (call, response) => reply(call, response, "<html>")],
    ["that is nothing", (call, response) => reply(call, response, "")],
    ["with a field that is not known", (call, response) => reply(call, response, { stauts: {} })],
    ["with a number for a duration", (call, response) => reply(call, response, { requeueAfter: 5 })],
    [
      "with a duration that is no duration",
      (call, response) => reply(call, response, { requeueAfter: "NaNs" }),
    ],
    [
      "that is 10,000 deep",
      (call, response) => reply(call, response, `{"status":${'{"a":'.repeat(1e4)}1${"}".repeat(1e4)}}`),
    ],
    ["with __proto__", (call, response) => reply(call, response, '{"status":{"a":{"__proto__":{"b":1}}}}')],
    [
      "with a condition that is none",
      (call, response) => reply(call, response, { conditions: [{ type: "A" }] }),
    ],
  ])("%s", async (_what, answer) => {
    expect(reasonOf(await called(answer))).toBe("RetryError BadAnswer");
  });

  it("that was an earlier call's", async () => {
    const kept: Record<string, string> = {};
    const { call } = calling(fn.port);
    fn.answer = (one, response) => {
      const writeHead = response.writeHead.bind(response);
      response.writeHead = ((status: number, headers: Record<string, string>) =>
        writeHead(status, Object.assign(kept, headers))) as typeof response.writeHead;
      reply(one, response);
    };
    expect(await call()).toEqual({});
    fn.answer = (_one, response) => response.writeHead(200, kept).end("{}");
    expect(reasonOf(await outcome(call()))).toBe("RetryError Unsigned");
  });
});

describe("what else is answered", () => {
  const answered = (status: number, headers: Record<string, string> = {}, body: unknown = {}) =>
    called((call, response) => reply(call, response, body, { status, headers }));

  it.each([409, 429, 503])("%i with Retry-After waits, and is no failure", async (status) => {
    const error = await answered(status, { "retry-after": "7" }, { reason: "Busy", message: "come later" });
    expect(error).toBeInstanceOf(RetryAfterError);
    expect(error).toMatchObject({
      after: "7000ms",
      reason: "Busy",
      message: expect.stringContaining("come later") as string,
    });
  });
  it("Retry-After may be a date, is a second at least, and five minutes at most", async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const [inAMinute, now, never] = [
      await answered(503, { "retry-after": date }),
      await answered(503, { "retry-after": "0" }),
      await answered(503, { "retry-after": "1000000000" }),
    ];
    expect(Number.parseInt((inAMinute as RetryAfterError).after)).toBeGreaterThan(50_000);
    expect(now).toMatchObject({ after: "1000ms" });
    expect(never).toMatchObject({ after: "300000ms" });
  });
  it("429 with an account makes that account wait, if it is signed", async () => {
    const headers = { "retry-after": "2" };
    expect(await answered(429, headers, { account: "a" })).toBeInstanceOf(ThrottledError);
    const unsigned = await called((_call, response) =>
      response.writeHead(429, { ...headers, "content-type": "application/json" }).end('{"account":"a"}'),
    );
    expect(unsigned).toBeInstanceOf(RetryAfterError);
  });
  it("409 without Retry-After is a conflict", async () => {
    expect(await answered(409)).toBeInstanceOf(ConflictError);
    expect(await answered(409, { "retry-after": "-1" })).toBeInstanceOf(ConflictError);
  });
  it.each([400, 403, 410, 413, 422])("%i gives up, with its reason and message", async (status) => {
    const message = `no\u0000 way\n${"x".repeat(5_000)}`;
    const error = await answered(status, {}, { reason: "NoWay", message });
    expect(reasonOf(error)).toBe("TerminalError NoWay");
    expect((error as Error).message).toMatch(new RegExp(`answered ${status}: no way x+…$`));
    expect((error as Error).message.length).toBeLessThan(1_100);
  });
  it.each([401, 404, 408, 421, 429, 500, 502, 503])("%i is tried again", async (status) => {
    expect(await answered(status)).toBeInstanceOf(RetryError);
  });
  it.each([301, 302, 307, 308, 304])("%i is not followed", async (status) => {
    const error = await answered(status, { location: `http://127.0.0.1:${fn.port}/elsewhere` });
    expect(reasonOf(error)).toBe("RetryError Redirected");
    expect(fn.calls).toHaveLength(1);
  });
  it.each([201, 204, 206])("%i is no answer", async (status) => {
    expect(reasonOf(await answered(status))).toBe("RetryError BadAnswer");
  });
  it("a page says nothing, plain text does", async () => {
    const page = (type: string) =>
      called((_call, response) => response.writeHead(500, { "content-type": type }).end("<h1>Oops</h1>"));
    expect(String(await page("text/html"))).not.toMatch(/Oops/);
    expect(String(await page("text/plain; charset=utf-8"))).toMatch(/answered 500: <h1>Oops/);
  });
});

describe("no answer", () => {
  it("from nobody", async () => {
    const { port } = fn;
    await fn.close();
    const error = await outcome(calling(port).call());
    expect(reasonOf(error)).toBe("RetryError NotAnswered");
    expect(String(error)).toMatch(/nobody listens there/);
    fn = await startTestFunction();
  });
  it("when the connection breaks, before or in the answer; and it is not sent twice", async () => {
    expect(reasonOf(await called((_call, response) => response.destroy()))).toBe("RetryError NotAnswered");
    const cut = await called((_call, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy());
    });
    expect(reasonOf(cut)).toBe("RetryError NotAnswered");
    expect(fn.calls).toHaveLength(2);
  });
  it("that is compressed, however small", async () => {
    const bomb = gzipSync(Buffer.alloc(2 ** 20));
    const error = await called((_call, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    );
    expect(String(error)).toMatch(/compressed, though identity was asked for/);
  });
  it.each([
    ["said to be", { "content-length": String(2 ** 30) }],
    ["without end", {}],
  ])("of 1 GiB, %s: no more is read than is allowed", async (_how, headers) => {
    let sent = 0;
    const error = await called((_call, response) => {
      response.writeHead(200, headers);
      const more = (): void => {
        for (let i = 0; i < 64 && !response.destroyed && sent < 2 ** 30; i++) {
          sent += 2 ** 16;
          if (!response.write(Buffer.alloc(2 ** 16))) return void response.once("drain", more);
        }
        if (!response.destroyed && sent < 2 ** 30) setImmediate(more);
      };
      more();
    });
    expect(String(error)).toMatch(new RegExp(`more than ${largestAnswer} bytes`));
    expect(sent).toBeLessThan(64 * 2 ** 20);
  });
  it("within the run's time, also from one who sends a byte now and then", async () => {
    for (const start of [
      () => {},
      (response: Parameters<TestFunction["answer"]>[1]) => void response.writeHead(200).write("{"),
    ]) {
      const over = new AbortController();
      fn.answer = (_call, response) => {
        start(response);
        over.abort(new Error("time is up"));
      };
      expect(await outcome(calling(fn.port).call(runOf({ signal: over.signal })))).toEqual(
        new Error("time is up"),
      );
    }
  });

  const raw = async (talk: string): Promise<unknown> => {
    const server: Server = createServer((socket) => {
      socket.once("data", () => socket.end(talk));
      socket.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const error = await outcome(calling((server.address() as AddressInfo).port).call());
    server.close();
    return error;
  };
  it.each([
    ["garbage", "\u0000\u0001\u0002garbage\r\n\r\n"],
    ["endless headers", `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(20_000)}\r\n`],
    ["another protocol", "SSH-2.0-OpenSSH_9.2p1\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"],
    [
      "a protocol that was not asked for",
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ],
  ])("that is %s", async (_what, talk) => {
    expect(reasonOf(await raw(talk))).toBe("RetryError NotAnswered");
  });
});

it("sends nothing once the lease is over", async () => {
  const { parts } = calling(fn.port);
  const run = runOf();
  const guard = {
    beforeWrite: () => {
      throw new Error("not held");
    },
  };
  const context = { ...contextOf(run), guard };
  const one = { type: "dev.drover.reconcile.v1", run, context, deadline: Date.now() + 1_000 } as const;
  expect(await outcome(callFunction(parts, one))).toEqual(new Error("not held"));
  expect(fn.calls).toEqual([]);
});

it("while secrets are changed it signs with both, and believes a newer one at once", async () => {
  const { world, call } = calling(fn.port);
  world.secrets = [otherSecret, secret];
  await call();
  const [{ incoming } = fail("no call")] = fn.calls;
  expect(String(incoming.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  world.secrets = [`whsec_${Buffer.alloc(24, 3).toString("base64")}`];
  fn.answer = (one, response) => reply(one, response, {}, { with: world.secrets });
  expect(await call()).toEqual({});
});

it("a call's headers are verified by its body's bytes", async () => {
  const { call } = calling(fn.port);
  await call();
  const [{ call: body, incoming } = fail("no call")] = fn.calls;
  const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) =>
    String(incoming.headers[`webhook-${name}`]),
  );
  expect(
    claimIn({ id, timestamp, signature }, Date.now()).isMadeWith(secret, Buffer.from(JSON.stringify(body))),
  ).toBe(true);
});

describe("202", () => {
  const pendingCall = () => {
    const { call, parts } = calling(fn.port);
    const run = runOf();
    fn.answer = (_call, response) => response.writeHead(202).end();
    const { key, token } = run;
    const completion = { audience: { name: "web/greetings", uid: "f-1" }, key, token, code: 200, result: {} };
    return { call, parts, run, completion };
  };
  it("waits for the completion, which may be a failure, too", async () => {
    for (const [more, expected] of [
      [{ result: { status: { a: 1 } } }, { status: { a: 1 } }],
      [{ code: 422, result: { reason: "Bad" } }, expect.any(TerminalError)],
      [{ code: 503, retryAfter: 9, result: {} }, expect.any(RetryAfterError)],
    ] as const) {
      const { call, parts, run, completion } = pendingCall();
      const calls = fn.calls.length;
      const ended = outcome(call(run));
      while (fn.calls.length === calls) await new Promise(setImmediate);
      expect(parts.pending.complete({ ...completion, ...more })).toBe("taken");
      expect(parts.pending.complete({ ...completion, ...more })).toBe("not held");
      expect(await ended).toEqual(expected);
    }
  });
  it("ends with the run, and what comes later is refused", async () => {
    const { call, parts, run, completion } = pendingCall();
    const over = new AbortController();
    const ended = outcome(call({ ...run, signal: over.signal }));
    while (fn.calls.length === 0) await new Promise(setImmediate);
    over.abort(new Error("lost"));
    expect(await ended).toEqual(new Error("lost"));
    expect(parts.pending.complete(completion)).toBe("not held");
  });
  it("is refused where no completions are taken", async () => {
    fn.answer = (_call, response) => response.writeHead(202).end();
    const { call } = calling(fn.port, { complete: undefined });
    expect(reasonOf(await outcome(call()))).toBe("RetryError NoCompletions");
  });
});

function fail(message: string): never {
  throw new Error(message);
}
