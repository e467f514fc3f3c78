import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Admission, type AdmissionLimits, openAdmission, defaultAdmissionLimits } from "./admission.ts";
import { peerOf } from "./counted-connections.ts";
import { type PublicServer, servePublicly } from "./public-server.ts";

/** By group: its bodies are answered once the test resolves this. */
let gates: Map<string, PromiseWithResolvers<undefined>>;
let clock: number;
let admission: Admission;
let server: PublicServer;
let port: number;
let sockets: Socket[];
/** The errors of refused bodies. */
let refused: string[];

/** Reads bodies; `x-secret` marks the sender as verified, before or after the body. */
async function start(limits: AdmissionLimits): Promise<void> {
  admission = openAdmission(() => clock, limits);
  const reasons = refused;
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.post("/:group", async (c) => {
    const group = c.req.param("group");
    const body = admission.body(c.env.incoming, { most: 2 ** 20, group });
    try {
      const shown = c.req.header("x-secret");
      if (shown === "before") body.verified();
      const { length } = await body.read();
      if (shown === "after") body.verified();
      await gates.get(group)?.promise;
      return c.text(String(length), shown === undefined ? 401 : 200);
    } catch (error) {
      reasons.push(String(error));
      return c.text("refused", 400);
    } finally {
      body.release();
    }
  });
  server = await servePublicly({ app, admission, host: "0.0.0.0", port: 0, settings: "" });
  port = Number(new URL(server.url).port);
}
const limits: AdmissionLimits = {
  ...defaultAdmissionLimits,
  connection: 1_000,
  unverified: { total: 2_000_000, peer: 1_200_000, group: 1_100_000 },
  verified: { total: 2_000_000, peer: 1_200_000, group: 1_100_000 },
};
beforeEach(async () => {
  gates = new Map();
  [clock, sockets, refused] = [1_000_000, [], []];
  await start(limits);
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** Connects from a loopback address; each address is a peer. */
async function open(localAddress: string, text = ""): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}
const half = (group = "a", headers = "", sent = "{"): string =>
  `POST /${group} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n${headers}\r\n${sent}`;
async function post(
  localAddress: string,
  { bytes = 2, group = "a", headers = {} }: { bytes?: number; group?: string; headers?: object } = {},
): Promise<number> {
  const sent = request({
    port,
    host: "127.0.0.1",
    localAddress,
    agent: false,
    method: "POST",
    path: `/${group}`,
    headers: { ...headers, "content-length": bytes },
  });
  sent.end(Buffer.alloc(bytes, " "));
  const [answer] = (await once(sent, "response")) as [{ statusCode: number; resume(): void }];
  answer.resume();
  return answer.statusCode;
}
const isClosed = async (socket: Socket): Promise<unknown> => socket.closed || once(socket, "close");

describe("a flood of half-sent requests", () => {
  it.each([
    ["of connections that send nothing", ""],
    ["of half-sent headers", "POST /a HTTP/1.1\r\nHost: a\r\n"],
    ["of bodies with one byte", half()],
  ])("%s stops neither another sender nor a new one from the same address", async (_what, text) => {
    const flood = await Promise.all(Array.from({ length: 3_000 }, () => open("127.0.0.2", text)));
    await isClosed(flood[0]!);
    expect(await post("127.0.0.3", { bytes: 900_000 })).toBe(401);
    expect(await post("127.0.0.2")).toBe(401);
    expect(admission.held().unverified).toBeLessThanOrEqual(limits.unverified.peer);
  });

  it("from many addresses stays within the limit, and drops the oldest bodies of the largest peer", async () => {
    const mine = await open("127.0.0.9", half("b"));
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 1_000 }, (_, i) => open(`127.0.1.${i % 100}`, half(`g${i % 50}`))),
      );
    }
    await expect.poll(() => admission.held().unverified).toBeLessThanOrEqual(limits.unverified.total);
    expect(mine.closed).toBe(false);
    expect(await post("127.0.0.8")).toBe(401);
  });

  it("of one group leaves room for other groups, and for other senders of the group", async () => {
    const mine = await open("127.0.0.9", half("hook"));
    const flood = await Promise.all(
      [1, 2].map((i) => open("127.0.0.2", half("hook", "", " ".repeat(500_000 + i)))),
    );
    await expect.poll(() => admission.held().unverified).toBeGreaterThan(1_000_000);
    const more = await open("127.0.0.3", half("hook", "", " ".repeat(200_000)));
    await isClosed(flood[0]!);
    expect([flood[1]!.closed, mine.closed, more.closed]).toEqual([false, false, false]);
  });
});

describe("a sender that was verified", () => {
  it("is not dropped for unverified bodies while it sends, waits or is idle, also of its own address", async () => {
    gates.set("slow", Promise.withResolvers());
    const idle = await open(
      "127.0.0.2",
      "POST /a HTTP/1.1\r\nHost: a\r\nx-secret: after\r\nContent-Length: 2\r\n\r\n{}",
    );
    await once(idle, "data");
    const sending = await open("127.0.0.2", half("b", "x-secret: before\r\n"));
    const waiting = post("127.0.0.2", { group: "slow", headers: { "x-secret": "after" } });
    await expect.poll(() => admission.held().verified).toBeGreaterThanOrEqual(1_000);
    const flood = await Promise.all(Array.from({ length: 3_000 }, () => open("127.0.0.2", half())));
    await isClosed(flood[0]!);
    gates.get("slow")?.resolve(undefined);
    expect(await waiting).toBe(200);
    expect([idle.closed, sending.closed]).toEqual([false, false]);
    sending.write(" ".repeat(999_999));
    const [answer] = (await once(sending, "data")) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200/);
  });

  it("is limited, too: its own oldest bodies are dropped", async () => {
    const flood = await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        open("127.0.0.2", half(`g${i}`, "x-secret: before\r\n", " ".repeat(400_000))),
      ),
    );
    await isClosed(flood[0]!);
    await expect.poll(() => refused).toContain("BodyRefusedError: The body is displaced.");
    expect(admission.held().verified).toBeLessThanOrEqual(limits.verified.peer);
  });
});

describe("a body that is too slow", () => {
  it("has its connection closed, and a faster one has not", async () => {
    const slow = await open("127.0.0.2", half());
    const fast = await open("127.0.0.2", half("b", "", " ".repeat(20_000)));
    await expect.poll(() => admission.held().unverified).toBe(22_001);
    clock += defaultAdmissionLimits.rateGrace;
    admission.closeSlow();
    clock += 10_000;
    expect([slow.closed, fast.closed]).toEqual([false, false]);
    admission.closeSlow();
    await isClosed(slow);
    await expect.poll(() => refused).toEqual(["BodyRefusedError: The body is too slow."]);
    clock += 10_000;
    admission.closeSlow();
    await isClosed(fast);
  });
});

it("no bytes are counted once all connections are closed", async () => {
  await Promise.all(Array.from({ length: 200 }, (_, i) => open(`127.0.0.${2 + (i % 7)}`, half(`g${i % 3}`))));
  await post("127.0.0.2", { headers: { "x-secret": "after" } });
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => admission.held()).toEqual({ unverified: 0, verified: 0 });
});

it.each([
  ["10.0.0.1", "10.0.0.1"],
  ["::ffff:10.0.0.1", "10.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::9", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  [undefined, ""],
])("the peer of %s is %s", (address, peer) => {
  expect(peerOf(address)).toBe(peer);
});
