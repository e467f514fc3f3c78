import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { objectKey, type ObjectKey } from "@drover/controller";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { KubeClient, WriteOutcome } from "./client.ts";
import { connect, type ConnectOptions } from "./connect.ts";
import { ApiError, ConnectionError, MalformedReplyError, WriteRefusedError } from "../errors.ts";
import { type ResourceRef, WrongScopeError } from "../objects/resource-ref.ts";
import { bucketRef, bucketList, bucketObject } from "../testing/objects.ts";
import {
  hangs,
  hangsUp,
  jsonReply,
  kubeconfigOf,
  raw,
  refuses,
  type ReplyScript,
  scriptedServer,
  streams,
} from "../testing/scripted-server.ts";
import { processTimers, type Timers } from "@drover/timers";

const key = objectKey({ namespace: "default", name: "a" });
const stack: AsyncDisposableStack[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  while (stack.length > 0) await stack.pop()?.disposeAsync();
});

async function against(script: ReplyScript | readonly ReplyScript[], options: Partial<ConnectOptions> = {}) {
  const owned = new AsyncDisposableStack();
  stack.push(owned);
  const server = owned.use(await scriptedServer(...[script].flat()));
  const client = await connect({ kubeconfig: server.kubeconfig, timers: immediately(), ...options });
  owned.defer(() => client.close());
  return { server, client };
}

/** A clock on which every wait is over at once, and remembered. */
function immediately(waits: number[] = []): Timers {
  return {
    now: () => performance.now(),
    after: (span, _what, callback) => {
      waits.push(span);
      const timer = setImmediate(callback);
      return () => clearImmediate(timer);
    },
  };
}

test("of hundreds of requests at once 32 go out, and all are answered", async () => {
  const held: (() => void)[] = [];
  const { server, client } = await against(
    (heard, response) => {
      const answer = (): void => jsonReply(bucketObject("a"))(heard, response);
      if (heard.path === "/others") answer();
      else held.push(answer);
    },
    { timers: processTimers },
  );
  const answers = Promise.all(Array.from({ length: 300 }, () => client.get(bucketRef, key)));
  await server.until(32);
  for (let i = 0; i < 20; i++) await fetch(`${server.url}/others`);
  expect(held).toHaveLength(32);
  for (let i = 0; i < 300; i++) {
    await server.until(20 + Math.min(300, i + 32));
    held[i]?.();
  }
  expect((await answers).map((answer) => answer?.metadata.name)).toEqual(Array(300).fill("a"));
});

const failure = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail("it should have failed"),
    (error: unknown) => error,
  );

describe("an object that is asked for", () => {
  test("comes with its metadata parsed and the rest as it is", async () => {
    const { client, server } = await against(jsonReply({ ...bucketObject("a"), spec: { region: "eu" } }));
    const object = await client.get(bucketRef, key);
    expect(object?.metadata.uid).toBe("uid-a");
    expect(object?.["spec"]).toEqual({ region: "eu" });
    expect(server.requests[0]).toMatchObject({
      method: "GET",
      path: "/apis/s3.example.com/v1/namespaces/default/buckets/a",
    });
  });

  test("is undefined when the server says that it is not there", async () => {
    const { client } = await against(refuses(404, "NotFound", { name: "a", kind: "buckets" }));
    expect(await client.get(bucketRef, key)).toBeUndefined();
  });

  test.each([
    ["a bare 404 page", raw("404 page not found\n", 404)],
    ["a Status that names no object", refuses(404, "NotFound", {})],
  ])("is an error when its kind is not served: %s", async (_name, script) => {
    const { client } = await against(script);
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ kind: "NotServed" });
  });

  test("may have null where a field is absent", async () => {
    const { client } = await against(jsonReply(bucketObject("a", { creationTimestamp: null, labels: null })));
    expect((await client.get(bucketRef, key))?.metadata).not.toHaveProperty("labels");
  });

  test("needs a namespace exactly when its kind has one", async () => {
    const { client } = await against(hangs);
    expect(await failure(client.get(bucketRef, objectKey({ name: "a" })))).toBeInstanceOf(WrongScopeError);
    const cluster = { ...bucketRef, namespaced: false };
    expect(await failure(client.get(cluster, key))).toBeInstanceOf(WrongScopeError);
  });
});

describe("what no API server says", () => {
  test.each<[string, ReplyScript]>([
    ["HTML with 200", raw("<html>Log in</html>", 200, { "content-type": "text/html" })],
    ["an empty body with 200", raw("")],
    ["a redirect", raw("", 302, { location: "/login" })],
    ["another kind", jsonReply({ ...bucketObject("a"), kind: "Basket" })],
    ["another version of the kind", jsonReply({ ...bucketObject("a"), apiVersion: "s3.example.com/v2" })],
    ["an object without a uid", jsonReply(bucketObject("a", { uid: undefined }))],
    ["an object without a version", jsonReply(bucketObject("a", { resourceVersion: "" }))],
    ["labels that are no text", jsonReply(bucketObject("a", { labels: { a: 1 } }))],
    ["bytes that are not UTF-8", raw(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
    ["a body without end", (_heard, response) => flood(response)],
  ])("is a clear error: %s", async (_name, script) => {
    const { client } = await against(script);
    expect(await failure(client.get(bucketRef, key))).toBeInstanceOf(MalformedReplyError);
  });

  test("is a clear error in a watch: bytes that are not UTF-8", async () => {
    const { client } = await against(
      raw(Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]), 200, { "content-type": "application/json" }),
    );
    const frames = client.watch(bucketRef, { resourceVersion: "1" })[Symbol.asyncIterator]();
    const error = await failure(Promise.resolve(frames.next()));
    expect(error).toBeInstanceOf(MalformedReplyError);
    expect(String(error)).toContain("a frame is not UTF-8");
  });

  test("a refusal of a watch that breaks off is a broken connection, and not that refusal", async () => {
    const { client } = await against((_heard, response) => {
      response.writeHead(403, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"kind":"Status"', () => response.destroy());
    });
    const frames = client.watch(bucketRef, { resourceVersion: "1" })[Symbol.asyncIterator]();
    expect(await failure(Promise.resolve(frames.next()))).toBeInstanceOf(ConnectionError);
  });

  test.each<[string, object]>([
    ["a list without metadata", { kind: "BucketList", items: [] }],
    ["a list without a version", bucketList([], { resourceVersion: undefined })],
    ["a single object", bucketObject("a")],
    ["items that are no objects", { ...bucketList([]), items: ["a"] }],
    ["items of another kind", bucketList([{ ...bucketObject("a"), kind: "Basket" }])],
  ])("is a clear error in a list: %s", async (_name, body) => {
    const { client } = await against(jsonReply(body));
    expect(await failure(client.list(bucketRef))).toBeInstanceOf(MalformedReplyError);
  });

  const flood = (response: Parameters<ReplyScript>[1]): void => {
    response.on("close", () => response.removeAllListeners("drain"));
    const more = (): void => {
      if (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, " "))) setImmediate(more);
    };
    response.on("drain", more);
    more();
  };
});

describe("a refusal", () => {
  test.each([
    [401, "Unauthorized", "Unauthorized"],
    [403, "Forbidden", "Forbidden"],
    [409, "Conflict", "Conflict"],
    [409, "AlreadyExists", "AlreadyExists"],
    [410, "Expired", "Expired"],
    [410, "Gone", "Expired"],
    [422, "Invalid", "Invalid"],
    [400, "BadRequest", "Invalid"],
    [429, "TooManyRequests", "TooManyRequests"],
    [500, "InternalError", "ServerError"],
    [503, "ServiceUnavailable", "ServerError"],
    [504, "Timeout", "Timeout"],
  ])("%d %s is of kind %s", async (code, reason, kind) => {
    const { client } = await against(refuses(code, reason));
    const error = await failure(client.patch(bucketRef, key, { type: "merge", body: {} }));
    expect(error).toMatchObject({ kind, status: code, reason, serverMessage: `no: ${reason}` });
    expect(error).toBeInstanceOf(ApiError);
  });

  test("that a proxy words keeps the proxy's words, shortened", async () => {
    const { client } = await against(raw("upstream is away ".repeat(100), 502));
    const error = await failure(client.get(bucketRef, key, { retries: 0 }));
    expect(error).toMatchObject({ kind: "ServerError", status: 502 });
    expect(String(error).length).toBeLessThan(400);
  });

  test("says when to retry in its body where no header does", async () => {
    const { client } = await against(refuses(429, "TooManyRequests", { retryAfterSeconds: 60 }));
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ retryAfter: 60_000 });
  });

  test.each([
    ["7", 7_000],
    ["-1", undefined],
    ["soon", undefined],
    ["1e9", undefined],
    ["1000000000", 300_000],
    ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
    ["Fri, 21 Oct 2095 07:28:00 GMT", 300_000],
    // Read against the time that the server says, minutes behind ours or ahead.
    ["Wed, 21 Oct 2015 07:28:30 GMT", 30_000, "Wed, 21 Oct 2015 07:28:00 GMT"],
    ["Fri, 21 Oct 2095 07:28:30 GMT", 30_000, "Fri, 21 Oct 2095 07:28:00 GMT"],
  ])("with Retry-After: %s is to be retried after %s ms", async (header, span, date?: string) => {
    const headers = { "retry-after": header, ...(date !== undefined && { date }) };
    const { client } = await against(refuses(503, "ServiceUnavailable", {}, headers));
    expect(await failure(client.get(bucketRef, key, { retries: 0 }))).toHaveProperty("retryAfter", span);
  });
});

describe("repeating", () => {
  const unwell = refuses(503, "ServiceUnavailable");
  const well = jsonReply(bucketObject("a"));

  test("a read is repeated twice after an answer that passes", async () => {
    const { client, server } = await against([unwell, hangsUp, well]);
    expect(await client.get(bucketRef, key)).toBeDefined();
    expect(server.requests).toHaveLength(3);
  });

  test("never within a Retry-After, and not at all when that is long", async () => {
    const waits: number[] = [];
    vi.spyOn(Math, "random").mockReturnValue(0);
    const asks = (seconds: string) => refuses(429, "TooManyRequests", {}, { "retry-after": seconds });
    const { client, server } = await against([asks("3"), asks("60")], { timers: immediately(waits) });
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ retryAfter: 60_000 });
    expect(server.requests).toHaveLength(2);
    expect(waits).toEqual([3_000]);
  });

  test("a write is not repeated after 503 or a lost answer: it may have happened", async () => {
    const { client, server } = await against([unwell, hangsUp]);
    expect(
      await failure(client.create(bucketRef, { metadata: { name: "a", namespace: "default" } })),
    ).toMatchObject({
      kind: "ServerError",
    });
    expect(await failure(client.delete(bucketRef, key))).toBeInstanceOf(ConnectionError);
    expect(server.requests).toHaveLength(2);
  });

  test.each([408, 504])(
    "a read is repeated after %i, and a write is not: it may have happened",
    async (status) => {
      const late = refuses(status, "Timeout");
      const { client, server } = await against([late, well, late, well]);
      expect(await client.get(bucketRef, key)).toBeDefined();
      const created = client.create(bucketRef, { metadata: { name: "a", namespace: "default" } });
      expect(await failure(created)).toMatchObject({ kind: "Timeout" });
      expect(server.requests).toHaveLength(3);
    },
  );

  test("a write is repeated after 429: nothing happened", async () => {
    const { client, server } = await against([refuses(429, "TooManyRequests"), well]);
    await client.patch(bucketRef, key, { type: "merge", body: { spec: {} } });
    expect(server.requests).toHaveLength(2);
  });
});

describe("no answer", () => {
  test("nobody listens", async () => {
    const { client, server } = await against(hangs);
    await server[Symbol.asyncDispose]();
    stack.at(-1)?.move();
    expect(await failure(client.get(bucketRef, key))).toMatchObject({
      name: "ConnectionError",
      code: "ECONNREFUSED",
    });
    await client.close();
  });

  test("the deadline passes", async () => {
    const { client } = await against(hangs, { requestTimeout: 20 });
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ code: "TIMEOUT" });
  });

  test("a body that stops in the middle is ended by the deadline too", async () => {
    const { client } = await against((_heard, response) => void response.write('{"kind":'), {
      requestTimeout: 50,
    });
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ code: "TIMEOUT" });
  });

  test("the caller's signal ends it with the caller's reason", async () => {
    const { client, server } = await against(hangs);
    const controller = new AbortController();
    const reason = new Error("enough");
    const call = failure(client.get(bucketRef, key, { signal: controller.signal }));
    await server.until(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
  });
});

test("a request that is given up is cut off, so that the server need not go on with it", async () => {
  const cut = Promise.withResolvers<undefined>();
  const { client, server } = await against((_heard, response) => {
    response.on("close", () => cut.resolve(undefined));
  });
  const controller = new AbortController();
  const call = failure(client.get(bucketRef, key, { signal: controller.signal }));
  await server.until(1);
  controller.abort(new Error("enough"));
  await call;
  await cut.promise;
});

describe("a watch", () => {
  const change = JSON.stringify({ type: "MODIFIED", object: bucketObject("a", { resourceVersion: "8" }) });
  const frames = (client: KubeClient, onOpen?: () => void) =>
    client
      .watch(bucketRef, { resourceVersion: "7", ...(onOpen !== undefined && { onOpen }) })
      [Symbol.asyncIterator]();

  test("goes on for longer than its beginning may take", async () => {
    const [open, opened] = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<undefined>()];
    const { client } = await against((heard, response) => {
      streams()(heard, response);
      open.resolve(response);
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const next = frames(client, () => opened.resolve(undefined)).next();
    const response = await open.promise;
    await opened.promise;
    vi.advanceTimersByTime(3_600_000);
    response.write(`${change}\n`);
    expect(await next).toMatchObject({ value: [{ type: "MODIFIED" }] });
  });

  test("may be of any length, as long as none of its frames is too long", async () => {
    const large = (resourceVersion: string) =>
      `${JSON.stringify({ type: "MODIFIED", object: { ...bucketObject("a", { resourceVersion }), text: "x".repeat(2 ** 20) } })}\n`;
    const { client } = await against(streams(...Array.from({ length: 12 }, (_, i) => large(String(8 + i)))));
    let told = 0;
    for await (const { length } of client.watch(bucketRef, { resourceVersion: "7" }))
      if ((told += length) === 12) break;
    expect(told).toBe(12);
  });

  test("that its caller ends says the caller's reason", async () => {
    const { client, server } = await against(streams());
    const controller = new AbortController();
    const watch = client.watch(bucketRef, { resourceVersion: "7", signal: controller.signal });
    const next = failure(watch[Symbol.asyncIterator]().next());
    await server.until(1);
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await next).toBe(reason);
  });

  test("that is not let in lets go of the refusal before it is tried with newer credentials", async () => {
    const dropped = Promise.withResolvers<undefined>();
    const { client } = await against([
      (_heard, response) => {
        response.writeHead(401, { "content-type": "application/json" }).write("{");
        response.on("close", () => dropped.resolve(undefined));
      },
      streams(`${change}\n`),
    ]);
    expect(await frames(client).next()).toMatchObject({ value: [{ type: "MODIFIED" }] });
    await dropped.promise;
  });
});

test("a server may be below a path, as behind a proxy of several clusters", async () => {
  await using server = await scriptedServer(jsonReply(bucketObject("a")));
  const client = await connect({ server: `${server.url}/k8s/clusters/one/` });
  await client.get(bucketRef, key);
  expect(server.requests[0]?.path).toBe(
    "/k8s/clusters/one/apis/s3.example.com/v1/namespaces/default/buckets/a",
  );
  await client.close();
});

describe("without a connection", () => {
  const silent = async () => {
    const listener = createServer();
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const owned = new AsyncDisposableStack();
    stack.push(owned);
    owned.defer(() => void listener.close());
    const { port } = listener.address() as AddressInfo;
    const folder = await mkdtemp(join(tmpdir(), "drover-kube-"));
    owned.defer(() => rm(folder, { recursive: true }));
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigOf(`https://127.0.0.1:${port}`));
    return { listener, owned, kubeconfig };
  };

  test("a request ends with its signal, and its guard is not asked", async () => {
    const { listener, owned, kubeconfig } = await silent();
    const client = await connect({ kubeconfig });
    owned.defer(() => client.close());
    let asked = 0;
    const guarded = client.guarded({ beforeWrite: () => void (asked += 1) });
    const controller = new AbortController();
    const accepted = once(listener, "connection");
    const call = failure(guarded.delete(bucketRef, key, { signal: controller.signal }));
    const [socket] = (await accepted) as [Socket];
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await call).toBe(reason);
    socket.destroy();
    expect(asked).toBe(0);
  });
});

describe("writing", () => {
  test("a create sends the kind and the field manager", async () => {
    const { client, server } = await against(jsonReply(bucketObject("a"), 201));
    await client.create(bucketRef, { metadata: { name: "a", namespace: "default" }, spec: {} });
    const [heard] = server.requests;
    expect(heard?.path).toBe("/apis/s3.example.com/v1/namespaces/default/buckets");
    expect(heard?.query.get("fieldManager")).toBe("drover");
    expect(JSON.parse(heard?.body ?? "")).toMatchObject({ apiVersion: "s3.example.com/v1", kind: "Bucket" });
  });

  test("a patch of the status goes to its subresource, with its own content type", async () => {
    const { client, server } = await against(jsonReply(bucketObject("a")));
    await client.patch(bucketRef, key, { type: "merge", body: { status: {} } }, { subresource: "status" });
    await client.patch(bucketRef, key, { type: "json", body: [{ op: "remove", path: "/spec" }] });
    const object = "/apis/s3.example.com/v1/namespaces/default/buckets/a";
    expect(server.requests.map(({ path, headers }) => [path, headers["content-type"]])).toEqual([
      [`${object}/status`, "application/merge-patch+json"],
      [object, "application/json-patch+json"],
    ]);
  });

  test("a delete carries its preconditions, and is false when there was nothing", async () => {
    const { client, server } = await against([
      jsonReply({ kind: "Status", status: "Success" }),
      refuses(404, "NotFound", { name: "a" }),
    ]);
    expect(await client.delete(bucketRef, key, { uid: "u", resourceVersion: "7" })).toBe(true);
    expect(await client.delete(bucketRef, key)).toBe(false);
    expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({
      kind: "DeleteOptions",
      preconditions: { uid: "u", resourceVersion: "7" },
    });
  });
});

test("a client that acts as an account does so also where its own user acts as another", async () => {
  await using server = await scriptedServer(jsonReply(bucketObject("a")));
  await writeFile(server.kubeconfig, kubeconfigOf(server.url, { as: "somebody" }));
  const client = await connect({ kubeconfig: server.kubeconfig });
  await client.get(bucketRef, key);
  await client.as({ namespace: "team", name: "one" }).get(bucketRef, key);
  expect(server.requests.map(({ headers }) => headers["impersonate-user"])).toEqual([
    "somebody",
    "system:serviceaccount:team:one",
  ]);
  await client.close();
});

test("a client that acts as an account says so with every request, reads, writes and watches, and guards it, too", async () => {
  const answers = [
    jsonReply(bucketObject("a")),
    jsonReply(bucketList([bucketObject("a")])),
    jsonReply(bucketObject("a")),
  ];
  const { server, client } = await against([
    ...answers,
    refuses(403, "Forbidden"),
    jsonReply(bucketObject("a")),
  ]);
  let asked = 0;
  const acting = client
    .guarded({ beforeWrite: () => void (asked += 1) })
    .as({ namespace: "team", name: "made.of.dots" });
  await acting.get(bucketRef, key);
  await acting.list(bucketRef);
  await acting.patch(bucketRef, key, { type: "merge", body: {} });
  await expect(
    acting.watch(bucketRef, { resourceVersion: "1" })[Symbol.asyncIterator]().next(),
  ).rejects.toThrow();
  await client.get(bucketRef, key);
  expect(server.requests.map(({ headers }) => headers["impersonate-user"])).toEqual([
    ...Array<string>(4).fill("system:serviceaccount:team:made.of.dots"),
    undefined,
  ]);
  expect(asked).toBe(1);
});

describe("a guarded client", () => {
  const over = new Error("the lease is over");

  test("reads, but sends no write once its guard says no", async () => {
    const { client, server } = await against(jsonReply(bucketObject("a")));
    const guarded = client.guarded({
      beforeWrite: () => {
        throw over;
      },
    });
    await guarded.get(bucketRef, key);
    const object = { metadata: { name: "a", namespace: "default" } };
    const writes = [
      (c: KubeClient) => c.create(bucketRef, object),
      (c: KubeClient) => c.replace(bucketRef, object),
      (c: KubeClient) => c.patch(bucketRef, key, { type: "merge", body: {} }),
      (c: KubeClient) => c.delete(bucketRef, key),
      (c: KubeClient) => c.guarded({ beforeWrite: () => undefined }).delete(bucketRef, key),
    ];
    for (const write of writes) {
      const error = await failure(write(guarded));
      expect(error).toBeInstanceOf(WriteRefusedError);
      expect(error).toHaveProperty("cause", over);
    }
    await guarded.get(bucketRef, key);
    expect(server.requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
    expect(new Set(server.requests.map(({ from }) => from)).size).toBe(1);
  });

  test.each<[string, ReplyScript, readonly unknown[]]>([
    ["as it was answered", jsonReply(bucketObject("a")), [bucketObject("a"), bucketObject("a"), "unknown"]],
    ["refused", refuses(409, "Conflict"), ["refused", "refused", "refused"]],
    ["perhaps done", refuses(500, "InternalError"), ["unknown", "unknown", "unknown"]],
  ])("tells its guards what a write came to: %s", async (_, reply, expected) => {
    const { client } = await against(reply);
    const told: unknown[][] = [[], []];
    const guard = (i: number) => ({
      beforeWrite: () => undefined,
      observeWrite: (ref: ResourceRef, of: ObjectKey) => (outcome: WriteOutcome) =>
        void told[i]?.push([ref.plural, of, outcome]),
    });
    const guarded = client.guarded(guard(0)).guarded(guard(1));
    await guarded.get(bucketRef, key).catch(() => undefined);
    const object = { metadata: { name: "a", namespace: "default" } };
    await guarded.replace(bucketRef, object).catch(() => undefined);
    await guarded.patch(bucketRef, key, { type: "merge", body: {} }).catch(() => undefined);
    await guarded.delete(bucketRef, key).catch(() => undefined);
    for (const each of told) expect(each).toEqual(expected.map((outcome) => ["buckets", key, outcome]));
  });

  test("reports a write that was not sent to its guard", async () => {
    const { client } = await against(jsonReply(bucketObject("a")));
    const told: unknown[] = [];
    const guarded = client.guarded({
      beforeWrite: () => {
        throw over;
      },
      observeWrite: () => (outcome) => void told.push(outcome),
    });
    await failure(guarded.delete(bucketRef, key));
    expect(told).toEqual(["refused"]);
  });

  test("asks its guard again before a repeat", async () => {
    const { client, server } = await against(refuses(429, "TooManyRequests"));
    let asked = 0;
    const guarded = client.guarded({
      beforeWrite: () => {
        if (++asked > 1) throw over;
      },
    });
    expect(await failure(guarded.delete(bucketRef, key))).toBeInstanceOf(WriteRefusedError);
    expect(server.requests).toHaveLength(1);
  });
});
