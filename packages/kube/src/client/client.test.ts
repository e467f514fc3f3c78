import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { objectKey, type ObjectKey } from "@drover/controller";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
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
import { scriptedClient } from "../testing/scripted-client.ts";
import { processTimers, type Timers } from "@drover/timers";

const key = objectKey({ namespace: "default", name: "a" });
const object = { metadata: { name: "a", namespace: "default" } };
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
const against = (script: ReplyScript | readonly ReplyScript[], options: Partial<ConnectOptions> = {}) =>
  scriptedClient(script, { timers: immediately(), ...options });

/** A clock on which every wait ends at once. `waits` records the waits, ms. */
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

test("of 300 concurrent requests 32 are sent at a time, and all are answered", async () => {
  const held: (() => void)[] = [];
  const { server, client } = await against(
    (request, response) => {
      const answer = (): void => jsonReply(bucketObject("a"))(request, response);
      if (request.path === "/others") answer();
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

const firstFrame = (client: KubeClient) =>
  client.watch(bucketRef, { resourceVersion: "1" })[Symbol.asyncIterator]().next();

describe("an object that is read", () => {
  test("has its metadata parsed and the rest unchanged", async () => {
    const { client, server } = await against(jsonReply({ ...bucketObject("a"), spec: { region: "eu" } }));
    const object = await client.get(bucketRef, key);
    expect(object?.metadata.uid).toBe("uid-a");
    expect(object?.["spec"]).toEqual({ region: "eu" });
    expect(server.requests[0]).toMatchObject({
      method: "GET",
      path: "/apis/s3.example.com/v1/namespaces/default/buckets/a",
    });
  });

  test("is undefined if the server answers that it does not exist", async () => {
    const { client } = await against(refuses(404, "NotFound", { name: "a", kind: "buckets" }));
    expect(await client.get(bucketRef, key)).toBeUndefined();
  });

  test.each([
    ["a bare 404 page", raw("404 page not found\n", 404)],
    ["a Status that names no object", refuses(404, "NotFound", {})],
  ])("is an error if its kind is not served: %s", async (_name, script) => {
    const { client } = await against(script);
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ kind: "NotServed" });
  });

  test("may have null in place of an absent field", async () => {
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

describe("an invalid answer", () => {
  test.each<[string, ReplyScript]>([
    ["HTML with 200", raw("<html>Log in</html>", 200, { "content-type": "text/html" })],
    ["an empty body with 200", raw("")],
    ["a redirect", raw("", 302, { location: "/login" })],
    ["another kind", jsonReply({ ...bucketObject("a"), kind: "Basket" })],
    ["another version of the kind", jsonReply({ ...bucketObject("a"), apiVersion: "s3.example.com/v2" })],
    ["an object without a uid", jsonReply(bucketObject("a", { uid: undefined }))],
    ["an object without a version", jsonReply(bucketObject("a", { resourceVersion: "" }))],
    ["labels that are not strings", jsonReply(bucketObject("a", { labels: { a: 1 } }))],
    ["bytes that are not UTF-8", raw(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
    ["a body without end", (_request, response) => flood(response)],
  ])("is a clear error: %s", async (_name, script) => {
    const { client } = await against(script);
    expect(await failure(client.get(bucketRef, key))).toBeInstanceOf(MalformedReplyError);
  });

  test("is a clear error in a watch: bytes that are not UTF-8", async () => {
    const { client } = await against(
      raw(Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]), 200, { "content-type": "application/json" }),
    );
    const error = await failure(firstFrame(client));
    expect(error).toBeInstanceOf(MalformedReplyError);
    expect(String(error)).toContain("a frame is not UTF-8");
  });

  test("that breaks off is a connection error, even if its status is a refusal", async () => {
    const { client } = await against((_request, response) => {
      response.writeHead(403, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"kind":"Status"', () => response.destroy());
    });
    expect(await failure(firstFrame(client))).toBeInstanceOf(ConnectionError);
  });

  test.each<[string, object]>([
    ["a list without metadata", { kind: "BucketList", items: [] }],
    ["a list without a version", bucketList([], { resourceVersion: undefined })],
    ["a single object", bucketObject("a")],
    ["items that are not objects", { ...bucketList([]), items: ["a"] }],
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

  test("of a proxy keeps the proxy's message, shortened", async () => {
    const { client } = await against(raw("upstream is away ".repeat(100), 502));
    const error = await failure(client.get(bucketRef, key, { retries: 0 }));
    expect(error).toMatchObject({ kind: "ServerError", status: 502 });
    expect(String(error).length).toBeLessThan(400);
  });

  test("has its retry time in the body if there is no header", async () => {
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
    // Relative to the Date header of the server: its clock may differ from ours.
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

  test("a read is repeated twice after a transient failure", async () => {
    const { client, server } = await against([unwell, hangsUp, well]);
    expect(await client.get(bucketRef, key)).toBeDefined();
    expect(server.requests).toHaveLength(3);
  });

  test("waits for Retry-After, and is not done at all if that is long", async () => {
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
    expect(await failure(client.create(bucketRef, object))).toMatchObject({ kind: "ServerError" });
    expect(await failure(client.delete(bucketRef, key))).toBeInstanceOf(ConnectionError);
    expect(server.requests).toHaveLength(2);
  });

  test.each([408, 504])(
    "a read is repeated after %i, and a write is not: it may have happened",
    async (status) => {
      const late = refuses(status, "Timeout");
      const { client, server } = await against([late, well, late, well]);
      expect(await client.get(bucketRef, key)).toBeDefined();
      const created = client.create(bucketRef, object);
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

const aborted = async (call: (signal: AbortSignal) => Promise<unknown>, begun: () => Promise<unknown>) => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const failed = failure(call(controller.signal));
  await begun();
  controller.abort(reason);
  expect(await failed).toBe(reason);
};

describe("no answer", () => {
  test("no server listens", async () => {
    const { client, server } = await against(hangs);
    await server[Symbol.asyncDispose]();
    const error = { name: "ConnectionError", code: "ECONNREFUSED" };
    expect(await failure(client.get(bucketRef, key))).toMatchObject(error);
  });

  test("the deadline passes", async () => {
    const { client } = await against(hangs, { requestTimeout: 20 });
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ code: "TIMEOUT" });
  });

  test("a body that stops in the middle ends with the deadline, too", async () => {
    const { client } = await against((_request, response) => void response.write('{"kind":'), {
      requestTimeout: 50,
    });
    expect(await failure(client.get(bucketRef, key))).toMatchObject({ code: "TIMEOUT" });
  });

  test("the caller's signal ends it with the caller's reason", async () => {
    const { client, server } = await against(hangs);
    await aborted(
      (signal) => client.get(bucketRef, key, { signal }),
      () => server.until(1),
    );
  });
});

test("the connection of an aborted request is closed, so that the server can stop", async () => {
  const cut = Promise.withResolvers<undefined>();
  const { client, server } = await against((_request, response) => {
    response.on("close", () => cut.resolve(undefined));
  });
  await aborted(
    (signal) => client.get(bucketRef, key, { signal }),
    () => server.until(1),
  );
  await cut.promise;
});

describe("a watch", () => {
  const change = JSON.stringify({ type: "MODIFIED", object: bucketObject("a", { resourceVersion: "8" }) });
  const frames = (client: KubeClient, onOpen?: () => void) =>
    client
      .watch(bucketRef, { resourceVersion: "7", ...(onOpen !== undefined && { onOpen }) })
      [Symbol.asyncIterator]();

  test("lasts longer than the timeout for its start", async () => {
    const [open, opened] = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<undefined>()];
    const { client } = await against((request, response) => {
      streams()(request, response);
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

  test("may have any length if none of its frames is too long", async () => {
    const large = (resourceVersion: string) =>
      `${JSON.stringify({ type: "MODIFIED", object: { ...bucketObject("a", { resourceVersion }), text: "x".repeat(2 ** 20) } })}\n`;
    const { client } = await against(streams(...Array.from({ length: 12 }, (_, i) => large(String(8 + i)))));
    let frameCount = 0;
    for await (const { length } of client.watch(bucketRef, { resourceVersion: "7" }))
      if ((frameCount += length) === 12) break;
    expect(frameCount).toBe(12);
  });

  test("that its caller aborts ends with the caller's reason", async () => {
    const { client, server } = await against(streams());
    await aborted(
      (signal) => client.watch(bucketRef, { resourceVersion: "7", signal })[Symbol.asyncIterator]().next(),
      () => server.until(1),
    );
  });

  test("that is unauthorized closes the refused connection before it is retried with newer credentials", async () => {
    const dropped = Promise.withResolvers<undefined>();
    const { client } = await against([
      (_request, response) => {
        response.writeHead(401, { "content-type": "application/json" }).write("{");
        response.on("close", () => dropped.resolve(undefined));
      },
      streams(`${change}\n`),
    ]);
    expect(await frames(client).next()).toMatchObject({ value: [{ type: "MODIFIED" }] });
    await dropped.promise;
  });
});

test("a server may have a path prefix, as behind a proxy of several clusters", async () => {
  await using server = await scriptedServer(jsonReply(bucketObject("a")));
  const client = await connect({ server: `${server.url}/k8s/clusters/one/` });
  await client.get(bucketRef, key);
  expect(server.requests[0]?.path).toBe(
    "/k8s/clusters/one/apis/s3.example.com/v1/namespaces/default/buckets/a",
  );
  await client.close();
});

test("a request without a connection ends with its signal, and its guard is not called", async () => {
  const listener = createServer();
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => void listener.close());
  const client = await connect({ server: `https://127.0.0.1:${(listener.address() as AddressInfo).port}` });
  onTestFinished(() => client.close());
  let asked = 0;
  const guarded = client.guarded({ beforeWrite: () => void (asked += 1) });
  const accepted = once(listener, "connection");
  await aborted(
    (signal) => guarded.delete(bucketRef, key, { signal }),
    () => accepted,
  );
  const [socket] = (await accepted) as [Socket];
  socket.destroy();
  expect(asked).toBe(0);
});

describe("writing", () => {
  test("an apply sends JSON, its manager and whether it takes fields", async () => {
    const { client, server } = await against(jsonReply(bucketObject("a")));
    const run = client.guarded({ beforeWrite: () => undefined, fieldManager: "drover.dev/buckets" });
    await run.apply(bucketRef, { ...object, spec: { size: 2n ** 60n } });
    await run.guarded({ beforeWrite: () => undefined }).apply(bucketRef, object, { force: true });
    const path = "/apis/s3.example.com/v1/namespaces/default/buckets/a";
    const [first, second] = server.requests;
    expect([first?.method, first?.path]).toEqual(["PATCH", path]);
    expect(first?.headers["content-type"]).toBe("application/apply-patch+yaml");
    expect(first?.query.toString()).toBe("fieldManager=drover.dev%2Fbuckets&fieldValidation=Ignore");
    expect(first?.body).toBe(
      '{"metadata":{"name":"a","namespace":"default"},"spec":{"size":1152921504606846976},"apiVersion":"s3.example.com/v1","kind":"Bucket"}',
    );
    expect(second?.query.toString()).toBe(
      "fieldManager=drover.dev%2Fbuckets&fieldValidation=Ignore&force=true",
    );
  });

  test("a create sends the kind and the field manager", async () => {
    const { client, server } = await against(jsonReply(bucketObject("a"), 201));
    await client.create(bucketRef, { metadata: { name: "a", namespace: "default" }, spec: {} });
    const [request] = server.requests;
    expect(request?.path).toBe("/apis/s3.example.com/v1/namespaces/default/buckets");
    expect(request?.query.get("fieldManager")).toBe("drover");
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      apiVersion: "s3.example.com/v1",
      kind: "Bucket",
    });
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

  test("a delete carries its preconditions, and is false if there was no object", async () => {
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

test("a client that acts as an account does so even if its own user impersonates another", async () => {
  await using server = await scriptedServer(jsonReply(bucketObject("a")));
  await writeFile(server.kubeconfig, kubeconfigOf(server.url, { as: "another-user" }));
  const client = await connect({ kubeconfig: server.kubeconfig });
  await client.get(bucketRef, key);
  await client.as({ namespace: "team", name: "one" }).get(bucketRef, key);
  expect(server.requests.map(({ headers }) => headers["impersonate-user"])).toEqual([
    "another-user",
    "system:serviceaccount:team:one",
  ]);
  await client.close();
});

test("a client that acts as an account sends its name with every read, write and watch, and keeps its guard", async () => {
  const [one, list] = [jsonReply(bucketObject("a")), jsonReply(bucketList([bucketObject("a")]))];
  const { server, client } = await against([one, list, one, refuses(403, "Forbidden"), one]);
  let asked = 0;
  const acting = client
    .guarded({ beforeWrite: () => void (asked += 1) })
    .as({ namespace: "team", name: "made.of.dots" });
  await acting.get(bucketRef, key);
  await acting.list(bucketRef);
  await acting.patch(bucketRef, key, { type: "merge", body: {} });
  await expect(firstFrame(acting)).rejects.toThrow();
  await client.get(bucketRef, key);
  expect(server.requests.map(({ headers }) => headers["impersonate-user"])).toEqual([
    ...Array<string>(4).fill("system:serviceaccount:team:made.of.dots"),
    undefined,
  ]);
  expect(asked).toBe(1);
});

describe("a guarded client", () => {
  const over = new Error("the lease is over");

  test("reads, but sends no write once its guard refuses", async () => {
    const { client, server } = await against(jsonReply(bucketObject("a")));
    const guarded = client.guarded({
      beforeWrite: () => {
        throw over;
      },
    });
    await guarded.get(bucketRef, key);
    const writes = [
      (c: KubeClient) => c.create(bucketRef, object),
      (c: KubeClient) => c.replace(bucketRef, object),
      (c: KubeClient) => c.patch(bucketRef, key, { type: "merge", body: {} }),
      (c: KubeClient) => c.apply(bucketRef, object),
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
    ["accepted", jsonReply(bucketObject("a")), [bucketObject("a"), bucketObject("a"), "unknown"]],
    ["refused", refuses(409, "Conflict"), ["refused", "refused", "refused"]],
    ["perhaps done", refuses(500, "InternalError"), ["unknown", "unknown", "unknown"]],
  ])("reports the outcome of a write to its guards: %s", async (_, reply, expected) => {
    const { client } = await against(reply);
    const reported: unknown[][] = [[], []];
    const guard = (i: number) => ({
      beforeWrite: () => undefined,
      observeWrite: (ref: ResourceRef, of: ObjectKey) => (outcome: WriteOutcome) =>
        void reported[i]?.push([ref.plural, of, outcome]),
    });
    const guarded = client.guarded(guard(0)).guarded(guard(1));
    await guarded.get(bucketRef, key).catch(() => undefined);
    await guarded.replace(bucketRef, object).catch(() => undefined);
    await guarded.patch(bucketRef, key, { type: "merge", body: {} }).catch(() => undefined);
    await guarded.delete(bucketRef, key).catch(() => undefined);
    for (const each of reported) expect(each).toEqual(expected.map((outcome) => ["buckets", key, outcome]));
  });

  test("sends a dry run without its guard, to which it does not report it", async () => {
    const { client, server } = await against(jsonReply(bucketObject("a")));
    const reported: unknown[] = [];
    const guarded = client.guarded({
      beforeWrite: () => {
        throw over;
      },
      observeWrite: () => (outcome) => void reported.push(outcome),
    });
    await guarded.create(bucketRef, object, { dryRun: true });
    await guarded.replace(bucketRef, object, { dryRun: true });
    await guarded.patch(bucketRef, key, { type: "merge", body: {} }, { dryRun: true });
    await guarded.apply(bucketRef, object, { dryRun: true });
    await guarded.delete(bucketRef, key, { dryRun: true });
    const parameters = server.requests.map(({ query }) => query.get("dryRun"));
    expect(parameters).toEqual(["All", "All", "All", "All", null]);
    expect(JSON.parse(server.requests[4]?.body ?? "")).toMatchObject({ dryRun: ["All"] });
    expect(reported).toEqual([]);
  });

  test("reports a write that was not sent to its guard", async () => {
    const { client } = await against(jsonReply(bucketObject("a")));
    const reported: unknown[] = [];
    const guarded = client.guarded({
      beforeWrite: () => {
        throw over;
      },
      observeWrite: () => (outcome) => void reported.push(outcome),
    });
    await failure(guarded.delete(bucketRef, key));
    expect(reported).toEqual(["refused"]);
  });

  test("calls its guard again before a retry", async () => {
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
