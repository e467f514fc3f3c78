import {
  type Compose,
  type ComposeContext,
  ConflictError,
  type Controller,
  defineController,
  objectKey,
  type ObjectClient,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
  silentLog,
} from "@drover/controller";
import { builtin } from "@drover/kube";
import { type Call, parseSignatureClaim, type SentAnswer } from "@drover/webhook";
import { beforeEach, describe, expect, it } from "vitest";
import { callAt, callMutant } from "../../../webhook/src/testing/call-mutants.ts";
import {
  type SigningContext,
  signedMessage,
  type SignedMessage,
} from "../../../webhook/src/testing/mutants.ts";
import { pseudoRandom } from "@drover/random";
import { webhookHandler, type WebhookRequest } from "./webhook-handler.ts";
import { Greeting, otherSecret, secret } from "./greeting.fixture.ts";

let now: number;
let secrets: readonly string[];
let stopping: AbortController;
/** The keys of all runs. */
let runs: string[];
/** The reconcile function. */
let act: (signal: AbortSignal, client: ObjectClient) => Promise<{ status: { text: string } } | undefined>;
let answer: (request: WebhookRequest) => Promise<SentAnswer>;

beforeEach(() => {
  [now, runs] = [Date.parse("2026-01-01T00:00:00Z"), []];
  [secrets, stopping] = [[secret], new AbortController()];
  act = () => Promise.resolve({ status: { text: "hi" } });
  const controller = defineController({
    for: Greeting,
    reconcile({ key, signal, client }) {
      runs.push(key);
      return act(signal, client);
    },
    async finalize({ key, signal, client }) {
      runs.push(`${key} finalized`);
      await act(signal, client);
    },
  });
  answer = handlerOf(controller);
});
const handlerOf = (controller: Controller<typeof Greeting>): typeof answer =>
  webhookHandler({
    controller,
    audience: { name: "web/greetings", uid: "f-1" },
    secrets: () => secrets,
    log: silentLog,
    now: () => now,
    stopping: stopping.signal,
  });
const scene = (): SigningContext => ({ secret, otherSecret, now });
const sendMessage = ({ headers, body }: SignedMessage): Promise<SentAnswer> =>
  answer({ headers, body: Buffer.from(body) });
const called = (call: Call, at = now): Promise<SentAnswer> =>
  sendMessage(signedMessage(call, call.token, scene(), at));
function isSignedWith(one: string, { headers, body }: SentAnswer): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
  return parseSignatureClaim({ id, timestamp, signature }, now).isMadeWith(one, Buffer.from(body));
}
const outcomeIn = ({ body }: SentAnswer): unknown => (JSON.parse(body) as { outcome?: unknown }).outcome;
const object = (call: Call, more: object): Call => ({
  ...call,
  object: { ...call.object, metadata: { ...call.object.metadata, ...more } },
});

it("runs a call, and signs its answer with the call's id", async () => {
  const call = callAt(now);
  const reply = await called(call);
  expect(reply).toMatchObject({ status: 200, body: '{"outcome":"done","status":{"text":"hi"}}' });
  expect(isSignedWith(secret, reply)).toBe(true);
  expect(reply.headers["webhook-id"]).toBe(call.token);
  expect(runs).toEqual([call.key]);
});

it("signs its answer with all current secrets, also if they change during the run", async () => {
  secrets = [secret];
  act = () => {
    secrets = [otherSecret, secret];
    return Promise.resolve(undefined);
  };
  const reply = await called(callAt(now));
  for (const one of secrets) expect(isSignedWith(one, reply)).toBe(true);
});

it.each<[string, Partial<Call>, () => void]>([
  [
    "at the call's deadline",
    { deadline: new Date(Date.parse("2026-01-01T00:00:00.050Z")).toISOString() },
    () => undefined,
  ],
  ["when the process stops", {}, () => stopping.abort(new Error("stopping"))],
])("a run is aborted %s", async (_when, more, stop) => {
  const going = Promise.withResolvers<undefined>();
  act = async (signal) => {
    going.resolve(undefined);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return { status: { text: "too late" } };
  };
  const answered = called({ ...callAt(now), ...more });
  await going.promise;
  stop();
  expect(outcomeIn(await answered)).toBe("failed");
});

it("finalizes, and returns that outcome", async () => {
  const call = callAt(now, { type: "dev.drover.finalize.v2" });
  expect(await called(call)).toMatchObject({ status: 200, body: '{"outcome":"finalized"}' });
  expect(runs).toEqual([`${call.key} finalized`]);
});

describe("a call for children", () => {
  const calledFor = (children: NonNullable<Call["children"]>): Promise<SentAnswer> =>
    called({ ...callAt(now), type: "dev.drover.compose.v2", children });

  it("is answered with those that the controller declares", async () => {
    const { namespace = "" } = callAt(now).object.metadata;
    const config = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "a",
        namespace,
        uid: "u",
        resourceVersion: "1",
      },
    };
    const own = defineController({ for: Greeting, reconcile: () => Promise.resolve(undefined) });
    const composing = {
      ...own,
      compose: ({ children }: ComposeContext<typeof Greeting>) => ({
        status: {
          text: `${String(children.all.length)} ${children.get(builtin.configMap, "a")?.metadata.uid ?? "-"}`,
        },
        children: [
          { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" }, data: { large: 2n ** 60n } },
        ],
      }),
    };
    const audience = { name: "web/greetings", uid: "f-1" };
    answer = webhookHandler({
      controller: composing,
      audience,
      secrets: () => secrets,
      log: silentLog,
      now: () => now,
    });
    const reply = await calledFor([config]);
    expect(isSignedWith(secret, reply)).toBe(true);
    expect(JSON.parse(reply.body)).toMatchObject({
      outcome: "composed",
      status: { text: "1 u" },
      children: [{ kind: "ConfigMap", metadata: { name: "b" } }],
    });
    expect(reply.body).toContain('"large":1152921504606846976');
  });

  it("is parked by a controller that declares none", async () => {
    const reply = await calledFor([]);
    expect(JSON.parse(reply.body)).toMatchObject({ outcome: "parked", reason: "NotComposed" });
    expect(runs).toEqual([]);
  });
});

it.each<[Error, object]>([
  [
    new RetryAfterError("later", { after: "1500ms" }),
    { outcome: "again", after: "1500ms", message: "later", reason: "Waiting" },
  ],
  [
    new ThrottledError("enough", { account: "a", after: "9s" }),
    { outcome: "again", after: "9s", message: "enough", reason: "Throttled", account: "a" },
  ],
  [new TerminalError("never", { reason: "No" }), { outcome: "parked", message: "never", reason: "No" }],
  [new ConflictError("again"), { outcome: "conflict", message: "again" }],
  [new RetryError("oops", { reason: "Odd" }), { outcome: "failed", message: "oops", reason: "Odd" }],
  [new Error("oops"), { outcome: "failed", message: "oops" }],
  [new Error("x".repeat(1e5)), { outcome: "failed", message: "x".repeat(32_768) }],
])("%.30s becomes an outcome in the signed body, with status 200", async (error, body) => {
  act = () => Promise.reject(error);
  const reply = await called(callAt(now));
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.body)).toEqual(body);
  expect(reply.headers["webhook-signature"]).toMatch(/^v1,/);
});

it.each<[string, (client: ObjectClient) => Promise<unknown>]>([
  ["read", (client) => client.get(builtin.configMap, objectKey({ namespace: "default", name: "a" }))],
  ["list", (client) => client.list(builtin.configMap)],
  ["find", (client) => client.find(builtin.configMap)],
  ["write", (client) => client.create(builtin.configMap, { metadata: { name: "a" } })],
])("a %s of the cluster parks the object, with advice", async (_name, asked) => {
  act = (_, client) => asked(client).then(() => undefined);
  const reply = JSON.parse((await called(callAt(now))).body) as { message: string };
  expect(reply).toMatchObject({ outcome: "parked" });
  expect(reply.message).toContain("leave out `delivery: webhook`");
});

it.each<[string, unknown, string]>([
  ["NaN", { status: { text: NaN } }, "status.text: JSON has no NaN"],
  ["an unknown field of the result", { requeAfter: "5s" }, 'Unrecognized key: "requeAfter"'],
])("a result with %s fails, with the path", async (_name, result, problem) => {
  act = () => Promise.resolve(result as never);
  const reply = JSON.parse((await called(callAt(now))).body) as { message: string };
  expect(reply).toMatchObject({ outcome: "failed", reason: "InvalidResult" });
  expect(reply.message).toContain(problem);
});

describe("a call to compose", () => {
  const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
  const exists = (name: string, namespace: string) => ({
    ...configMap(name),
    metadata: { name, namespace, uid: `uid-${name}`, resourceVersion: "1" },
  });
  /** Calls a controller with this function to compose. */
  const composed = async (compose?: Compose<typeof Greeting>, children?: Call["children"]) => {
    const controller = defineController({ for: Greeting, reconcile: () => Promise.resolve(undefined) });
    answer = handlerOf({ ...controller, ...(compose && { compose }) });
    const more = { type: "dev.drover.compose.v2", ...(children && { children }) } as const;
    return JSON.parse((await called(callAt(now, more))).body) as { message: string };
  };

  it("is answered with the declared children; the function sees those that exist, and the object", async () => {
    const seen: unknown[] = [];
    const declared = [configMap("a"), { object: configMap("b"), wave: 1 }];
    const result = await composed(
      ({ spec, children }) => {
        seen.push(
          spec,
          children.all.length,
          children.get(builtin.configMap, "a")?.metadata.uid,
          children.get(builtin.configMap, "elsewhere"),
          children.get(builtin.secret, "a"),
        );
        return { children: declared, status: { text: "hi" }, requeueAfter: "5s" };
      },
      [exists("elsewhere", "other"), exists("a", "web")],
    );
    expect(seen).toEqual([{ name: "Ada" }, 2, "uid-a", undefined, undefined]);
    expect(result).toMatchObject({
      outcome: "composed",
      children: declared,
      status: { text: "hi" },
      requeueAfter: "5s",
    });
  });

  it("fails when the process stops before the function has ended", async () => {
    const result = await composed(() => {
      stopping.abort(new Error("stopping"));
      return { children: [] };
    });
    expect(result).toMatchObject({ outcome: "failed" });
  });

  it("fails for a status that cannot be written, with the path", async () => {
    const result = await composed(() => ({ children: [], status: { text: NaN as never } }));
    expect(result).toMatchObject({ outcome: "failed", reason: "InvalidResult" });
    expect(result.message).toContain("status.text: JSON has no NaN");
  });

  it("is parked by a controller that declares no children, with advice", async () => {
    const result = await composed();
    expect(result).toMatchObject({ outcome: "parked", reason: "NotComposed" });
    expect(result.message).toContain("Leave out spec.webhook.composes");
  });
});

it("a call that arrives after its deadline is refused, even if it was sent before", async () => {
  const call = callAt(now, { deadline: new Date(now - 30_000).toISOString() });
  expect((await called(call, now - 60_000)).status).toBe(408);
  expect(runs).toEqual([]);
});

it("a spec that does not parse is not passed to the function", async () => {
  const call = callAt(now);
  const reply = await called({ ...call, object: { ...call.object, spec: { name: 1 } } });
  expect(JSON.parse(reply.body)).toEqual({
    outcome: "parked",
    reason: "InvalidSpec",
    message: expect.stringContaining("spec.name") as string,
  });
  expect(runs).toEqual([]);
});

it("a repeated call gets the same answer, also during the run, and is not run again", async () => {
  const call = callAt(now);
  const gate = Promise.withResolvers<undefined>();
  act = async () => (await gate.promise, { status: { text: String(runs.length) } });
  const [first, second] = [called(call), called(call)];
  gate.resolve(undefined);
  expect(await second).toEqual(await first);
  now += 50_000;
  expect(await called(call, now - 50_000)).toEqual(await first);
  expect(runs).toHaveLength(1);
  const other = await called({ ...call, reasons: ["Another"] });
  expect(outcomeIn(other)).toBe("conflict");
  expect(runs).toHaveLength(1);
});

describe("a newer run of a key", () => {
  it.each([
    ["dev.drover.reconcile.v2", "done"],
    ["dev.drover.finalize.v2", "finalized"],
  ] as const)("stops the older one, waits for its end, and ignores its result: %s", async (type, success) => {
    const call = callAt(now, { type });
    const [stopped, going] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const story: string[] = [];
    act = async (signal) => {
      going.resolve(undefined);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      story.push("aborted");
      await stopped.promise;
      story.push("stopped");
      return undefined;
    };
    const first = called(call);
    await going.promise;
    act = () => (story.push("newer"), Promise.resolve(undefined));
    const second = called({ ...call, token: "newer" });
    stopped.resolve(undefined);
    expect(outcomeIn(await second)).toBe(success);
    expect(outcomeIn(await first)).toBe("failed");
    expect(story).toEqual(["aborted", "stopped", "newer"]);
  });

  it("waits for the run in progress, also if a run in between was superseded while it waited", async () => {
    const call = callAt(now);
    const stopped = Promise.withResolvers<undefined>();
    const story: string[] = [];
    act = async () => {
      await stopped.promise;
      story.push("the first has ended");
      return undefined;
    };
    const first = called(call);
    await expect.poll(() => runs).toHaveLength(1);
    act = () => (story.push("another runs"), Promise.resolve(undefined));
    const second = called({ ...call, token: "second" });
    const third = called({ ...call, token: "third" });
    expect(outcomeIn(await second)).toBe("failed");
    // Effects of the second one's end begin before the next turn of the event loop.
    await new Promise(setImmediate);
    stopped.resolve(undefined);
    expect(outcomeIn(await first)).toBe("failed");
    expect(outcomeIn(await third)).toBe("done");
    expect(story).toEqual(["the first has ended", "another runs"]);
  });

  it("rejects older ones", async () => {
    const call = object(callAt(now), { resourceVersion: "1000" });
    await called(call);
    const stale = [
      called({ ...object(call, { resourceVersion: "999" }), token: "older-1" }, now + 5_000),
      called({ ...call, token: "older-2" }, now - 1_000),
    ];
    expect((await Promise.all(stale)).map(outcomeIn)).toEqual(["conflict", "conflict"]);
    expect(runs).toHaveLength(1);
    const newer = { ...object(call, { resourceVersion: "10000" }), token: "newer" };
    expect(outcomeIn(await called(newer, now - 3_000))).toBe("done");
  });
});

it("runs none of 100,000 calls that are forged, misdirected, expired or malformed", async () => {
  const random = pseudoRandom(42);
  const found = new Set<string>();
  for (let i = 0; i < 100_000; i++) {
    const { what, sent } = callMutant(random, callAt(now), scene());
    const reply = await sendMessage(sent);
    found.add(`${what} ${reply.status}`);
    if (reply.status < 300 || runs.length > 0) throw new Error(`${what} was run: ${JSON.stringify(sent)}`);
  }
  expect(found.size).toBeGreaterThan(35);
  expect(outcomeIn(await called(callAt(now)))).toBe("done");
}, 300_000);

it("runs each key once of 10,000 calls that are replayed, late or repeated with the same id", async () => {
  const random = pseudoRandom(43);
  const called: SignedMessage[] = [];
  for (let i = 0; i < 10_000; i++) {
    const call = callAt(now);
    const sent = signedMessage(call, call.token, scene());
    if (i % 10 === 0) {
      called.push(sent);
      expect(outcomeIn(await sendMessage(sent))).toBe("done");
    } else await sendMessage(random.oneOf(called));
    if (i % 100 === 0) now += random.below(1_000);
  }
  expect(runs).toHaveLength(called.length);
  expect(new Set(runs).size).toBe(called.length);
});
