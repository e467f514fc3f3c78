import {
  ConflictError,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { type CallType, parseSignatureClaim, type Completion, signMessage } from "@drover/webhook";
import { type AddressInfo, createServer, type Server } from "node:net";
import { once } from "node:events";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  answering,
  calling,
  contextOf,
  greetings,
  otherSecret,
  reply,
  runOf,
  secret,
  startTestFunction,
  type TestFunction,
} from "./calling.fixture.ts";
import { TargetError } from "./target.ts";
import { type CallResources, maxAnswerBytes } from "./call-function.ts";

let fn: TestFunction;
beforeEach(async () => void (fn = await startTestFunction()));
afterEach(() => fn.close());

/** The answer of a call, or its error. */
const outcomeOf = async (promise: Promise<unknown>) =>
  promise.then(
    (answer) => answer,
    (error: unknown) => error,
  );
const called = (answer: TestFunction["answer"]) => {
  fn.answer = answer;
  return outcomeOf(calling(fn.port).call());
};
const reasonOf = (error: unknown): unknown =>
  error instanceof RetryError || error instanceof TerminalError ? `${error.name} ${error.reason}` : error;

it("sends all that the contract names as a CloudEvent, signed by its body's bytes", async () => {
  const run = runOf({ claim: { ...runOf().claim, replaced: "o-0", trace: "00-a-b-01" } });
  const { call } = calling(fn.port);
  expect(await call(run)).toEqual({});
  const [{ call: body, incoming } = expect.fail("No call.")] = fn.calls;
  expect(body).toMatchObject({
    type: "dev.drover.reconcile.v2",
    audience: { name: "web/greetings", uid: "f-1" },
    kind: { group: "example.com", version: "v1", kind: "Greeting" },
    key: "web/ada",
    uid: "o-1",
    replaced: "o-0",
    generation: 3,
    token: run.token,
    reasons: ["Modified"],
    fails: 2,
    complete: "http://127.0.0.1:1/completions/web/greetings/f-1",
  });
  expect(body.object.metadata).toEqual({
    name: "ada",
    namespace: "web",
    uid: "o-1",
    resourceVersion: "7",
    generation: 3,
    annotations: { note: "kept" },
  });
  expect(incoming.headers).toMatchObject({
    "ce-specversion": "1.0",
    "ce-id": run.token,
    "ce-type": "dev.drover.reconcile.v2",
    "ce-subject": "web/ada",
    "ce-source": "/drover/gateway/web/greetings",
    traceparent: "00-a-b-01",
    "content-type": "application/json",
    "accept-encoding": "identity",
    "webhook-id": run.token,
  });
  const [timestamp, signature] = ["timestamp", "signature"].map((name) =>
    String(incoming.headers[`webhook-${name}`]),
  );
  const claim = parseSignatureClaim({ id: run.token, timestamp, signature }, Date.now());
  expect(claim.isMadeWith(secret, Buffer.from(JSON.stringify(body)))).toBe(true);
});

it("takes a signed answer, whole", async () => {
  const answer = {
    status: { text: "hi" },
    conditions: [{ type: "Warm", status: "True", reason: "Yes", message: "" }],
    requeueAfter: "30s",
    account: "a",
  };
  expect(await called(answering({ outcome: "done", ...answer }))).toEqual(answer);
});

it("takes finalized as the answer to finalize, and to nothing else", async () => {
  const called = (outcome: string, type: CallType) => {
    fn.answer = answering({ outcome });
    return outcomeOf(calling(fn.port).call(runOf(), { type }));
  };
  expect(await called("finalized", "dev.drover.finalize.v2")).toEqual({});
  for (const error of [
    await called("done", "dev.drover.finalize.v2"),
    await called("finalized", "dev.drover.reconcile.v2"),
  ]) {
    expect(reasonOf(error)).toBe("RetryError BadAnswer");
  }
});

const anyStatus = [200, 201, 202, 204, 301, 400, 403, 404, 409, 410, 422, 429, 451, 500, 503, 599];
it.each(anyStatus.filter((status) => status !== 204))(
  "goes by the signed body, not by the status, with %i",
  async (status) => {
    const answered = (body: object) => called(answering(body, { status }));
    expect(await answered({ outcome: "done" })).toEqual({});
    expect(await answered({ outcome: "parked", message: "no" })).toBeInstanceOf(TerminalError);
    expect(await answered({ outcome: "failed", message: "no" })).toBeInstanceOf(RetryError);
  },
);

it.each(anyStatus)(
  "an answer that is not signed is retried with backoff, and shown by its status alone, with %i",
  async (status) => {
    const canary = "canary-user-admin";
    const headers = {
      "content-type": "text/plain",
      "retry-after": "1",
      location: `http://${canary}/`,
      "x-a": canary,
      "webhook-id": canary,
      "webhook-timestamp": "123454321",
      "webhook-signature": `v1,${canary}`,
    };
    for (const body of [canary, `{"outcome":"done","message":"${canary}"}`, `{"reason":"${canary}"}`]) {
      const error = await called((_call, response) => response.writeHead(status, canary, headers).end(body));
      expect(error).toBeInstanceOf(RetryError);
      expect(String(error)).toContain(String(status));
      expect(inspect(error, { depth: null })).not.toMatch(/canary|123454321/);
    }
  },
);

describe("an answer is not believed", () => {
  it.each<[string, TestFunction["answer"]]>([
    ["without a signature", (_call, response) => response.writeHead(200).end("{}")],
    ["signed with another secret", answering({ outcome: "done" }, { with: [otherSecret] })],
    [
      "signed for another body",
      ({ token: id }, response) =>
        response.writeHead(200, signMessage([secret], { id, at: Date.now() }, "{}")).end("{ }"),
    ],
    ["signed under another id", answering({ outcome: "done" }, { id: "other" })],
    ["signed long ago", answering({ outcome: "done" }, { ahead: -301_000 })],
    ["signed for later", answering({ outcome: "done" }, { ahead: 302_000 })],
    [
      "an unsigned 202, which would have the gateway wait for a completion",
      (_call, response) => response.writeHead(202).end('{"outcome":"accepted"}'),
    ],
  ])("%s", async (_what, answer) => {
    expect(reasonOf(await called(answer))).toBe("RetryError Unsigned");
  });

  it.each<[string, TestFunction["answer"]]>([
    ["that is the call itself, with its own signature", (call, response) => reply(call, response, call)],
    ["that is no JSON", answering("<html>")],
    ["that is nothing", answering("")],
    ["with no outcome", answering({})],
    ["with an outcome that there is not", answering({ outcome: "maybe" })],
    ["with a field that is not known", answering({ outcome: "done", stauts: {} })],
    ["with a field of another outcome", answering({ outcome: "done", after: "1s" })],
    ["with a number for a duration", answering({ outcome: "done", requeueAfter: 5 })],
    ["with a duration that is no duration", answering({ outcome: "done", requeueAfter: "NaNs" })],
    ["with a duration of endless digits", answering({ outcome: "done", requeueAfter: "1".repeat(5e5) })],
    [
      "that is 10,000 deep",
      answering(`{"outcome":"done","status":${'{"a":'.repeat(1e4)}1${"}".repeat(1e4)}}`),
    ],
    ["with __proto__", answering('{"outcome":"done","status":{"a":{"__proto__":{"b":1}}}}')],
    ["with a condition that is none", answering({ outcome: "done", conditions: [{ type: "A" }] })],
  ])("%s", async (_what, answer) => {
    expect(reasonOf(await called(answer))).toBe("RetryError BadAnswer");
  });
});

it.each([
  [200, { status: { text: "hi" } }],
  [200, { finalized: true }],
  [202, {}],
  [422, { reason: "Bad", message: "no" }],
])("an answer of version 1 is refused with what to change: %i %j", async (status, body) => {
  const error = await called(answering(body, { status }));
  expect(reasonOf(error)).toBe("RetryError BadAnswer");
  expect(String(error)).toMatch(
    /no "outcome", as in version 1.*\{"outcome":"done","status":\{...\}\} for a 200/,
  );
});

describe("an outcome", () => {
  const answered = (body: object) => called(answering(body));

  it("again waits, and is no failure; a second at least", async () => {
    const again = { outcome: "again", after: "7s", reason: "Busy", message: "come later" };
    const error = await answered(again);
    expect(error).toBeInstanceOf(RetryAfterError);
    expect(error).toMatchObject({
      after: "7000ms",
      reason: "Busy",
      message: "The function asks for a wait: come later",
    });
    expect(await answered({ ...again, after: "1ms" })).toMatchObject({ after: "1000ms" });
  });
  it("again with an account makes that account wait", async () => {
    const error = await answered({ outcome: "again", after: "2s", account: "a" });
    expect(error).toBeInstanceOf(ThrottledError);
    expect(error).toMatchObject({ account: "a", after: "2000ms", reason: "Throttled" });
  });
  it("conflict is a conflict", async () => {
    expect(await answered({ outcome: "conflict" })).toBeInstanceOf(ConflictError);
  });
  it("failed is retried, parked gives up; each with its reason and words, cleaned and cut", async () => {
    const message = `no\u0000 way\n${"x".repeat(5_000)}`;
    const failed = await answered({ outcome: "failed", reason: "NoWay", message });
    const parked = await answered({ outcome: "parked", reason: "NoWay", message });
    expect([reasonOf(failed), reasonOf(parked)]).toEqual(["RetryError NoWay", "TerminalError NoWay"]);
    expect((failed as Error).message).toMatch(/^The function failed: no way x+…$/);
    expect((parked as Error).message).toMatch(/^The function cannot go on: no way x+…$/);
    expect((parked as Error).message.length).toBeLessThan(1_100);
  });
  it("failed and parked need a message", async () => {
    for (const outcome of ["failed", "parked"]) {
      expect(reasonOf(await answered({ outcome }))).toBe("RetryError BadAnswer");
    }
  });
});

it.each([301, 302, 307, 308, 304])("%i is not followed", async (status) => {
  const error = await called((_call, response) =>
    response.writeHead(status, { location: `http://127.0.0.1:${fn.port}/elsewhere` }).end(),
  );
  expect(reasonOf(error)).toBe("RetryError Redirected");
  expect(fn.calls).toHaveLength(1);
});

describe("no answer", () => {
  it("from a closed port", async () => {
    const { port } = fn;
    await fn.close();
    const error = await outcomeOf(calling(port).call());
    expect(reasonOf(error)).toBe("RetryError NotAnswered");
    expect(String(error)).toMatch(/the connection was refused/);
    fn = await startTestFunction();
  });
  describe("from a Service that leads nowhere", () => {
    /** How a call ends that finds no listener, and after how many tries; `before` is called before each, with its number. */
    const tried = async (
      scalesToZero: boolean,
      before: (n: number) => void,
      more: Partial<CallResources> = {},
    ) => {
      let tries = 0;
      const run = runOf();
      const context = { ...contextOf(run), guard: { beforeWrite: () => before(++tries) } };
      const { call } = calling(fn.port, { fn: { ...greetings, scalesToZero }, ...more });
      return { outcome: await outcomeOf(call(run, { context })), tries };
    };
    beforeEach(() => fn.close());
    afterEach(async () => (fn = await startTestFunction()));

    it("yet: the first call from zero waits for it, and is sent once", async () => {
      const { port } = fn;
      let listening: Promise<TestFunction> | undefined;
      const { outcome } = await tried(true, (n) => {
        if (n === 2) listening = startTestFunction(port);
      });
      const served = await listening;
      await served?.close();
      expect(outcome).toEqual({});
      expect(served?.calls).toHaveLength(1);
    });
    it("for long, or where the function does not scale to zero: it is retried as what fails", async () => {
      for (const [rests, more] of [
        [true, { serviceDelay: 0 }],
        [false, {}],
      ] as const) {
        const { outcome, tries } = await tried(rests, () => undefined, more);
        expect([reasonOf(outcome), tries]).toEqual(["RetryError NotAnswered", 1]);
      }
    });
    it("until the run's lease is over", async () => {
      const over = (n: number): void => {
        if (n === 3) throw new Error("over");
      };
      expect(String((await tried(true, over)).outcome)).toBe("Error: over");
    });
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
    expect(String(error)).toMatch(/compressed, but the call accepts only identity/);
  });
  it.each([
    ["by its Content-Length", { "content-length": String(2 ** 30) }],
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
    expect(String(error)).toMatch(new RegExp(`more than ${maxAnswerBytes} bytes`));
    expect(sent).toBeLessThan(64 * 2 ** 20);
  });
  it("within the run's time, also from a function that sends a byte now and then", async () => {
    for (const start of [
      () => {},
      (response: Parameters<TestFunction["answer"]>[1]) => void response.writeHead(200).write("{"),
    ]) {
      const over = new AbortController();
      fn.answer = (_call, response) => {
        start(response);
        over.abort(new Error("time is up"));
      };
      expect(await outcomeOf(calling(fn.port).call(runOf({ signal: over.signal })))).toEqual(
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
    const error = await outcomeOf(calling((server.address() as AddressInfo).port).call());
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

it("sends no object that is too large or has too many fields, and reports it", async () => {
  for (const spec of [
    { text: "x".repeat(2 ** 21) },
    Object.fromEntries(Array.from({ length: 30_001 }, (_, i) => [String(i), 0])),
  ]) {
    const run = runOf();
    const context = contextOf(run);
    const large = { context: { ...context, object: { ...context.object, spec } } };
    expect(reasonOf(await outcomeOf(calling(fn.port).call(run, large)))).toBe("TerminalError TooLarge");
  }
  expect(fn.calls).toEqual([]);
});

it("a function without a target is tried again, with the reason; another failure to find it is passed on", async () => {
  const withTarget = (error: Error) =>
    outcomeOf(calling(fn.port, { target: () => Promise.reject(error) }).call());
  const refused = await withTarget(new TargetError("The Service a/b is not there."));
  expect(reasonOf(refused)).toBe("RetryError NoTarget");
  expect(refused).toMatchObject({ message: "The Service a/b is not there." });
  const failed = new Error("503");
  expect(await withTarget(failed)).toBe(failed);
  expect(fn.calls).toEqual([]);
});

it("sends nothing once the lease is over", async () => {
  const run = runOf();
  const guard = { beforeWrite: () => expect.fail("not held") };
  const context = { ...contextOf(run), guard };
  await expect(calling(fn.port).call(run, { context })).rejects.toThrow("not held");
  expect(fn.calls).toEqual([]);
});

it("while secrets are changed it signs with both, and believes a newer one at once", async () => {
  const { world, call } = calling(fn.port);
  world.secrets = [otherSecret, secret];
  await call();
  const [{ incoming } = expect.fail("No call.")] = fn.calls;
  expect(String(incoming.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  world.secrets = [`whsec_${Buffer.alloc(24, 3).toString("base64")}`];
  fn.answer = answering({ outcome: "done" }, { with: world.secrets });
  expect(await call()).toEqual({});
});

describe("accepted", () => {
  const pendingCall = () => {
    const { call, parts } = calling(fn.port);
    const run = runOf();
    fn.answer = answering({ outcome: "accepted" });
    const { key, token } = run;
    const completion: Completion = {
      audience: { name: "web/greetings", uid: "f-1" },
      key,
      token,
      result: { outcome: "done" },
    };
    return { call, parts, run, completion };
  };
  it("waits for the completion, which may have any outcome", async () => {
    const results: readonly (readonly [Completion["result"], unknown])[] = [
      [{ outcome: "done", status: { a: 1 } }, { status: { a: 1 } }],
      [{ outcome: "parked", message: "bad" }, expect.any(TerminalError)],
      [{ outcome: "again", after: "9s" }, expect.any(RetryAfterError)],
    ];
    for (const [result, expected] of results) {
      const { call, parts, run, completion } = pendingCall();
      const calls = fn.calls.length;
      const ended = outcomeOf(call(run));
      while (fn.calls.length === calls) await new Promise(setImmediate);
      expect(parts.pending.complete({ ...completion, result })).toBe("taken");
      expect(parts.pending.complete({ ...completion, result })).toBe("not held");
      expect(await ended).toEqual(expected);
    }
  });
  it("may come after the completion: a function that is done at once need not wait for its own answer", async () => {
    const { call, parts, run, completion } = pendingCall();
    fn.answer = (one, response) => {
      expect(parts.pending.complete(completion)).toBe("taken");
      reply(one, response, { outcome: "accepted" });
    };
    expect(await call(run)).toEqual({});
    expect(parts.pending.complete(completion)).toBe("not held");
  });
  it("ends with the run, and what comes later is refused", async () => {
    const { call, parts, run, completion } = pendingCall();
    const over = new AbortController();
    const ended = outcomeOf(call({ ...run, signal: over.signal }));
    while (fn.calls.length === 0) await new Promise(setImmediate);
    over.abort(new Error("lost"));
    expect(await ended).toEqual(new Error("lost"));
    expect(parts.pending.complete(completion)).toBe("not held");
  });
  it("ends with the run also once the call was accepted", async () => {
    const { call, parts, run, completion } = pendingCall();
    const { pending } = parts;
    const expectation = pending.expect.bind(pending);
    const waits = Promise.withResolvers<undefined>();
    vi.spyOn(pending, "expect").mockImplementation((...of) => {
      const { completed, forget } = expectation(...of);
      vi.spyOn(completed, "then").mockImplementation((...to) => {
        waits.resolve(undefined);
        return Promise.prototype.then.apply(completed, to);
      });
      return { completed, forget };
    });
    const over = new AbortController();
    const ended = outcomeOf(call({ ...run, signal: over.signal }));
    await waits.promise;
    over.abort(new Error("lost"));
    expect(await ended).toEqual(new Error("lost"));
    expect(pending.complete(completion)).toBe("not held");
  });
  it("is refused where no completions are taken", async () => {
    fn.answer = answering({ outcome: "accepted" });
    const { call } = calling(fn.port, { complete: undefined });
    expect(reasonOf(await outcomeOf(call()))).toBe("RetryError NoCompletions");
  });
});
