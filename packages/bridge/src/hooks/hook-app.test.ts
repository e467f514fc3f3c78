import type { ObjectKey } from "@drover/controller";
import type { Wake } from "@drover/queue";
import {
  type Admission,
  type AdmissionLimits,
  openAdmission,
  type PublicServer,
  servePublicly,
  defaultAdmissionLimits,
} from "@drover/runtime";
import type { EventIds } from "./event-ids.ts";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hookApp } from "./hook-app.ts";
import { declaredHook, hooksIn, otherWhsec, signedHeaders, whsec } from "./hook.fixture.ts";
import { openHooksInUse, usualLimits } from "./hooks-in-use.ts";
import { findByName } from "./named-keys.ts";
import { eventTaker } from "./take-event.ts";

const other = { name: "hooks", key: "other" };
const hooks = hooksIn([
  declaredHook,
  {
    name: "git",
    names: { field: "repository", namespace: "web" },
    id: { header: "X-Delivery" },
    verify: { bearer: { secretRef: other } },
  },
  {
    ...declaredHook,
    name: "batch",
    id: { field: "ids[]" },
    verify: { bearer: { secretRef: { ...other, key: "fourth" } } },
  },
  { ...declaredHook, name: "always", verify: { bearer: { secretRef: { ...other, key: "third" } } } },
]);
const token = "sixteen-letters!";

let app: ReturnType<typeof hookApp>;
let admission: Admission;
let build: (limits: AdmissionLimits) => Promise<PublicServer>;
let server: PublicServer;
let woken: Wake[][];
let outcomes: string[];
/** The reply of Redis to a wake. */
let redis: () => Promise<void>;
let known: Set<string>;
/** If true, Redis refuses to store ids. */
let denied: boolean;
/** The calls of queue and ids, and the answers to the sender, in order. */
let order: string[];
let clock: number;

const ids: EventIds = {
  has: (id) => (denied ? Promise.reject(new Error("NOPERM")) : Promise.resolve(known.has(id))),
  record: async (id) => {
    if (denied) throw new Error("NOPERM");
    // No server replies at once.
    await setImmediate();
    order.push("id");
    known.add(id);
  },
};
const wake = async (wakes: readonly Wake[]): Promise<void> => {
  await redis();
  order.push("wake");
  woken.push([...wakes]);
};

beforeEach(async () => {
  [woken, outcomes, known, denied, order, clock] = [[], [], new Set(), false, [], 0];
  redis = () => Promise.resolve();
  const inUse = openHooksInUse(
    ({ secretRef: { key } }) => Promise.resolve(key === "s3" ? [whsec] : [token]),
    { ...usualLimits, maxPending: 3, redisTimeout: 100, rate: { perSecond: 1, burst: 20 } },
    () => clock,
  );
  inUse.want(hooks);
  const named = (address: string): string => address.replace("web/sites/", "");
  const onIdsFailed = (hook: string, error: unknown) => outcomes.push(`${named(hook)} ${String(error)}`);
  const queueOf = () => ({ wake });
  build = (limits) => {
    admission = openAdmission(() => clock, limits);
    app = hookApp({
      hooks: inUse,
      admission,
      take: eventTaker({ queueOf, idsOf: () => ids, find: findByName, onIdsFailed, now: Date.now }),
      onTaken(hook, { outcome, keys }) {
        order.push("answer");
        outcomes.push(`${named(hook)} ${outcome} ${keys}`);
      },
      onRefused: (hook = "-", { refusal }) => outcomes.push(`${named(hook)} ${refusal}`),
      onError: (error) => outcomes.push(String(error)),
    });
    return serve();
  };
  server = await build(defaultAdmissionLimits);
});
afterEach(async () => {
  await server.close();
  // No body is counted any more, whether it was accepted or refused.
  await expect.poll(() => admission.held()).toEqual({ unverified: 0, verified: 0 });
});

const serve = (timeouts?: { readonly headers: number; readonly request: number }): Promise<PublicServer> =>
  servePublicly({ app, admission, host: "127.0.0.1", port: 0, settings: "", ...(timeouts && { timeouts }) });
/** Room for eight connections of one peer. */
const narrow = {
  connection: 1_000,
  unverified: { total: 20_000, peer: 8_500, group: 2 ** 21 },
};
const json = { "content-type": "application/json" };
const naming = (...names: readonly string[]): string =>
  JSON.stringify({ Records: names.map((name) => ({ name })) });
const post = async (
  hook: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) => {
  const answer = await fetch(`${server.url}/hooks/web/sites/${hook}`, {
    method: "POST",
    body,
    headers: { ...json, ...headers },
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const send = (body: string, as: Parameters<typeof signedHeaders>[1] = {}) =>
  post("s3", body, signedHeaders(body, as));
const bearer = (more: Record<string, string> = {}) => ({ authorization: `Bearer ${token}`, ...more });
const keys = (): ObjectKey[] => woken.flat().map(({ key }) => key);

/** Writes raw bytes; `answer` is everything that is received until the server closes. */
function open(text: string, url = server.url) {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  let came = "";
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (chunk) => (came += chunk.toString()));
    socket.on("error", () => undefined).on("close", () => resolve(came));
  });
  socket.write(text);
  return { socket, answer };
}
const raw = (text: string, url = server.url): Promise<string> => open(text, url).answer;
/** The head of a signed event with a body of that many bytes. */
const head = (length: number): string =>
  `POST /hooks/web/sites/s3 HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n${lines({ ...json, ...signedHeaders("") })}\r\n`;
const lines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
const rawPost = (headers: Readonly<Record<string, string>>, more: string, body: string): Promise<string> =>
  raw(
    `POST /hooks/web/sites/s3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `${lines({ ...json, ...headers })}${more}\r\n${body}`,
  );

describe("an event", () => {
  it("wakes the objects that it names, and is answered once the wakes and then its id are recorded", async () => {
    const { status, text } = await send(naming("web/a", "web/b"));
    expect({ status, text }).toEqual({ status: 204, text: "" });
    expect(woken).toHaveLength(1);
    expect(woken[0]).toMatchObject(
      ["web/a", "web/b"].map((key) => ({ key, kind: "hook:s3", reason: "Hook s3", class: "change" })),
    );
    expect(order).toEqual(["wake", "id", "answer"]);
    expect(outcomes).toEqual(["s3 accepted 2"]);
  });

  it("that is signed counts its sender as verified: unverified senders cannot displace it", async () => {
    const { connection } = defaultAdmissionLimits;
    expect((await post("s3", naming("web/a"), {})).status).toBe(401);
    expect(admission.held().verified).toBe(0);
    expect((await send(naming("web/a"))).status).toBe(204);
    await expect.poll(() => admission.held().verified).toBe(connection);
  });

  it("that is repeated wakes no keys; another body or another id is another event", async () => {
    await send(naming("web/a"));
    const later = { at: Date.now() + 60_000 };
    expect((await send(naming("web/a"), later)).status).toBe(204);
    expect(keys()).toEqual(["web/a"]);
    await send(naming("web/b"));
    await send(naming("web/a"), { id: "msg_2" });
    expect(keys()).toEqual(["web/a", "web/b", "web/a"]);
    expect(outcomes).toContain("s3 repeated 1");
  });

  it("without a recorded wake wakes when it is sent again", async () => {
    redis = () => Promise.reject(new Error("closed"));
    expect((await send(naming("web/a"))).status).toBe(503);
    redis = () => Promise.resolve();
    expect((await send(naming("web/a"))).status).toBe(204);
    expect(keys()).toEqual(["web/a"]);
  });

  it("wakes each time it is sent if Redis refuses to store ids", async () => {
    denied = true;
    for (let i = 0; i < 2; i++) expect((await send(naming("web/a"))).status).toBe(204);
    expect(keys()).toEqual(["web/a", "web/a"]);
    expect(outcomes).toContain("s3 Error: NOPERM");
  });

  it("without an id wakes each time it is sent: an equal body is not a repetition", async () => {
    for (let i = 0; i < 2; i++) expect((await post("always", naming("web/a"), bearer())).status).toBe(204);
    expect(keys()).toEqual(["web/a", "web/a"]);
    expect(new Set(woken.flat().map(({ resourceVersion }) => resourceVersion)).size).toBe(2);
  });

  it("is not blocked by another event that was sent with its unsigned id", async () => {
    const sent = (commit: string) =>
      post("git", JSON.stringify({ repository: "a", commit }), bearer({ "x-delivery": "1" }));
    await sent("old");
    await sent("new");
    await sent("new");
    expect(keys()).toEqual(["web/a", "web/a"]);
  });

  it("that names no object is accepted and counted", async () => {
    expect((await send(naming("other/a"))).status).toBe(204);
    expect(outcomes).toEqual(["s3 nobody 0"]);
    expect(woken).toEqual([]);
  });
});

describe("a hook that does not exist, and a wrong signature,", () => {
  it("get the same answer", async () => {
    const body = naming("web/a");
    const answers = [
      await post("none", body, signedHeaders(body)),
      await post("s3", body, signedHeaders(body, { secret: otherWhsec })),
      await post("s3", body, signedHeaders(`${body} `)),
      await post("s3", body, signedHeaders(body, { at: Date.now() - 600_000 })),
      await post("s3", body),
      await post("git", body, bearer({ authorization: "Bearer sixteen-letters-" })),
      await post("__proto__", body, signedHeaders(body)),
    ];
    for (const { status, text, headers } of answers) {
      expect({ status, text }).toEqual({ status: 401, text: answers[0]?.text });
      expect(headers.get("www-authenticate")).toBe("Webhook");
    }
    expect(answers[0]?.text).toMatch(/^\{"error":"There is no such address, or .*\. Check the URL/);
    expect(outcomes[0]).toBe("- unverified");
    expect(woken).toEqual([]);
  });

  it("as does a hook of the same name of another function, and an address that is split elsewhere", async () => {
    const body = naming("web/a");
    const headers = { ...json, ...signedHeaders(body) };
    const at = ["other/sites/s3", "web/other/s3", "-/sites/s3", "web%2Fsites/s3/x", "web/sites%2Fs3/x"];
    for (const address of at) {
      const answer = await fetch(`${server.url}/hooks/${address}`, { method: "POST", body, headers });
      expect([answer.status, await answer.text()], address).toEqual([
        401,
        expect.stringMatching(/There is no such address/),
      ]);
    }
    expect(
      (await fetch(`${server.url}/hooks/%77eb/sites/s3`, { method: "POST", body, headers })).status,
    ).toBe(204);
    expect(keys()).toEqual(["web/a"]);
  });

  it("also if a header was sent twice, and the first or last is good", async () => {
    const body = naming("web/a");
    const good = signedHeaders(body);
    for (const name of ["Webhook-Signature", "webhook-id", "webhook-timestamp"]) {
      expect(await rawPost(good, `${name}: v1,x\r\n`, body)).toMatch(/^HTTP\/1\.1 401/);
    }
    expect(await rawPost(good, `Content-Type: text/plain\r\n`, body)).toMatch(
      / 400 [^]*content-type was sent twice/,
    );
    expect(await rawPost(good, `Content-Length: 5\r\n`, body)).toMatch(/^HTTP\/1\.1 400/);
    expect(await rawPost(good, "", body)).toMatch(/^HTTP\/1\.1 204/);
    expect(keys()).toEqual(["web/a"]);
  });
});

describe("refuses", () => {
  it("other methods and paths", async () => {
    const put = await fetch(`${server.url}/hooks/web/sites/s3`, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await put.json()).toEqual({ error: "Events are sent with POST." });
    expect((await fetch(`${server.url}/hooks/web/sites/s3`)).status).toBe(405);
    for (const path of ["/", "/hooks", "/hooks/s3", "/hooks/a/b", "/metrics", "/hooks/web/sites/s3/"]) {
      const answer = await fetch(server.url + path, { method: "POST" });
      expect(answer.status, path).toBe(404);
      expect(await answer.json()).toEqual({
        error: "Events are sent to /hooks/<namespace>/<function>/<hook>.",
      });
    }
  });

  it("a compressed body, without looking at it", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20));
    const answer = await post("s3", new Uint8Array(bomb), {
      ...signedHeaders(""),
      "content-encoding": "gzip",
    });
    expect([answer.status, answer.text]).toEqual([415, expect.stringContaining("compressed")]);
  });

  it("a body that is not JSON, is nested too deep or names too many objects; each only if it is signed", async () => {
    const deep = "[".repeat(10_000);
    expect((await send(deep)).status).toBe(400);
    expect((await send("nothing")).status).toBe(400);
    expect((await post("s3", deep, signedHeaders("other"))).status).toBe(401);
    expect((await send(naming(...Array.from({ length: 1_001 }, (_, i) => `web/${i}`)))).status).toBe(422);
  });

  it("an event without the id that is declared", async () => {
    const body = '{"repository":"a"}';
    expect((await post("git", body, bearer())).text).toMatch(/exactly one id where the hook declares it/);
    expect((await post("git", body, bearer({ "x-delivery": "a".repeat(501) }))).status).toBe(400);
    for (const [ids, status] of [
      [[], 400],
      [["1"], 204],
      [["1", "2"], 400],
    ] as const) {
      const batch = JSON.stringify({ ids, Records: [{ name: "web/a" }] });
      expect((await post("batch", batch, bearer())).status).toBe(status);
    }
  });

  it("ten thousand signatures", async () => {
    const many = `v1,${"A".repeat(43)}= `.repeat(10_000);
    // Node closes while the bytes still arrive, so the sender may not receive its 431.
    const answer = await rawPost({ ...signedHeaders("{}"), "webhook-signature": many }, "", "{}");
    expect(answer).toMatch(/^$|^HTTP\/1\.1 431/);
    expect(outcomes).toEqual([]);
    expect((await send(naming("web/a"))).status).toBe(204);
  });

  it("100 MiB that are announced before they are sent", async () => {
    expect(await raw(`${head(104_857_600)}{`)).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/i);
  });

  it("100 MiB that are streamed without a length, after the first MiB", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const chunk = Buffer.alloc(2 ** 16, " ");
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += chunk.length;
        if (sent > 100 * 2 ** 20) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const endless = {
      method: "POST",
      body,
      duplex: "half",
      headers: { ...json, ...signedHeaders("") },
    } as const;
    // The connection may be closed while the body is still sent, without an answer.
    await fetch(`${server.url}/hooks/web/sites/s3`, endless).catch(() => undefined);
    await expect.poll(() => outcomes).toEqual(["s3 too large"]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
    expect((await send(naming("web/a"))).status).toBe(204);
  });

  it("slow headers and slow bodies", async () => {
    const hasty = await serve({ headers: 100, request: 200 });
    expect(await raw("POST /hooks/web/sites/s3 HTTP/1.1\r\nHost: a\r\n", hasty.url)).toMatch(
      /^HTTP\/1\.1 408/,
    );
    expect(await raw(`${head(2)}{`, hasty.url)).toMatch(/^HTTP\/1\.1 4(00|08)/);
    await hasty.close();
    expect((await send(naming("web/a"))).status).toBe(204);
  });
});

describe("limits", () => {
  it("the rate of signed events only", async () => {
    const body = naming("web/a");
    for (let i = 0; i < 30; i++) expect((await post("s3", body, signedHeaders("other"))).status).toBe(401);
    for (let i = 0; i < 20; i++) expect((await send(body)).status).toBe(204);
    const over = await send(body);
    expect([over.status, over.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await post("always", body, bearer())).status).toBe(204);
    clock += 1_000;
    expect((await send(body)).status).toBe(204);
    expect((await send(body)).status).toBe(429);
  });

  it("the time that it waits for Redis, and the number of calls that are pending meanwhile", async () => {
    const back = Promise.withResolvers<undefined>();
    redis = () => back.promise.then(() => undefined);
    const bodies = ["web/a", "web/b", "web/c", "web/d"].map((name) => naming(name));
    for (const body of bodies) {
      const { status, headers } = await send(body);
      expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
    }
    // Pending calls are made when Redis is back; the one above the limit is not.
    back.resolve(undefined);
    await expect.poll(keys).toEqual(["web/a", "web/b", "web/c"]);
    for (const body of bodies) expect((await send(body)).status).toBe(204);
    expect(keys()).toEqual(["web/a", "web/b", "web/c", "web/d"]);
  });

  it("the pending calls of one hook, and not those of others", async () => {
    const back = Promise.withResolvers<undefined>();
    redis = () => back.promise.then(() => undefined);
    await Promise.all(Array.from({ length: 3 }, (_, i) => send(naming(`web/${i}`))));
    redis = () => Promise.resolve();
    expect((await send(naming("web/x"))).status).toBe(503);
    expect((await post("always", naming("web/y"), bearer())).status).toBe(204);
    back.resolve(undefined);
  });

  it("the bytes of one peer's half-sent bodies: the oldest is closed, and the newest accepted", async () => {
    await server.close();
    server = await build({ ...defaultAdmissionLimits, ...narrow });
    const held = Array.from({ length: 20 }, () => open(`${head(2)}{`));
    await expect.poll(() => outcomes.filter((each) => each === "s3 unavailable").length).toBeGreaterThan(10);
    expect((await send(naming("web/a"))).status).toBe(204);
    expect(admission.held().unverified).toBeLessThanOrEqual(narrow.unverified.peer);
    for (const { socket } of held) socket.destroy();
    await expect.poll(() => admission.held().unverified).toBe(0);
  });

  it("the time that a body takes: a slow one is closed", async () => {
    const slow = open(`${head(1_000)}{`);
    await expect.poll(() => admission.held().unverified).toBeGreaterThan(defaultAdmissionLimits.connection);
    clock += 1_999;
    admission.closeSlow();
    expect(outcomes).toEqual([]);
    clock += 1_000;
    admission.closeSlow();
    expect(await slow.answer).toBe("");
    await expect.poll(() => outcomes).toEqual(["s3 malformed"]);
  });
});
