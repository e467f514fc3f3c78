import { silentLog } from "@drover/controller";
import {
  type Forwarder,
  type RedisServer,
  redisRequest,
  startForwarder,
  startRedis,
} from "@drover/local-servers";
import { type Timers, VirtualTimers } from "@drover/timers";
import type { Redis } from "ioredis";
import { EventEmitter } from "node:events";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connectRedis } from "./redis-connection.ts";
import { subscribeOver, type PubSubConnection, subscribe } from "./subscribe.ts";

let server: RedisServer;
let network: Forwarder;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis({ persistence: false });
  network = await startForwarder(server.port);
  const url = `redis://127.0.0.1:${network.port}`;
  redis = (await connectRedis({ url, clientName: "test", log: silentLog })) as Redis;
});
afterAll(async () => {
  redis.disconnect();
  await network.stop();
  await server.stop();
});

/** Hears what is published, and the connection that it comes on. */
function listen(timers?: Timers) {
  const duplicate = vi.spyOn(redis, "duplicate");
  const heard: string[] = [];
  const listening = subscribe(redis, "news", (message) => heard.push(message), timers);
  const connection = duplicate.mock.results[0]?.value as Redis;
  duplicate.mockRestore();
  return { listening, connection, heard };
}
const breakIt = () => redisRequest(server.port, ["CLIENT", "KILL", "TYPE", "pubsub"]);

it("hears on after its connection broke, as often as it did", async () => {
  const { listening, heard } = listen();
  for (const news of ["one", "two", "three"]) {
    await listening.caughtUp();
    await redis.publish("news", news);
    await listening.caughtUp();
    await breakIt();
  }
  expect(heard).toEqual(["one", "two", "three"]);
  listening.stop();
});

it("asks again where Redis did not permit it for a while", async () => {
  const timers = { now: () => 0, after: vi.fn<Timers["after"]>(() => () => undefined) };
  const { listening, connection, heard } = listen(timers);
  await listening.caughtUp();
  const asked = vi.spyOn(connection, "subscribe");
  await redisRequest(server.port, ["ACL", "SETUSER", "default", "resetchannels"]); // closes the connection
  await expect.poll(() => asked.mock.results).toHaveLength(1);
  await expect(asked.mock.results[0]?.value).rejects.toThrow(/NOPERM/);
  await redisRequest(server.port, ["ACL", "SETUSER", "default", "allchannels"]);
  const [span, , goOff] = timers.after.mock.lastCall ?? [];
  expect(span).toBe(5_000);
  goOff?.();
  await listening.caughtUp();
  await redis.publish("news", "again");
  await listening.caughtUp();
  expect(heard).toEqual(["again"]);
  listening.stop();
});

it("is stopped in peace while it subscribes again and gets no answer: nothing fails that nobody hears of", async () => {
  const { listening, connection } = listen();
  await listening.caughtUp();
  const stopped = new Promise((resolve) => connection.once("end", resolve));
  connection.once("ready", () => {
    network.hold();
    listening.stop();
    network.cut();
  });
  await breakIt();
  await stopped;
});

describe("where a connection that has ended is not opened again, as one to a node of a cluster", () => {
  class Node extends EventEmitter implements PubSubConnection {
    readonly subscribe = vi.fn(() => this.answers);
    readonly ping = vi.fn(() => Promise.resolve());
    readonly disconnect = vi.fn(() => void this.emit("end"));
    /** What it answers to a subscription; none, where it is gone before. */
    readonly answers: Promise<void>;
    constructor(answers: Promise<void>) {
      super();
      this.answers = answers;
    }
  }
  const never = new Promise<void>(() => undefined);
  const open = (isThere: () => boolean = () => true, answers = Promise.resolve()) => {
    const [clock, nodes, heard] = [new VirtualTimers(), [] as Node[], [] as string[]];
    const listening = subscribeOver({
      channel: "news",
      onMessage: (message) => heard.push(message),
      timers: clock,
      connect: () => (isThere() ? (nodes.push(new Node(answers)), nodes.at(-1)) : undefined),
    });
    return { clock, nodes, heard, listening };
  };

  it.each([
    ["was answered", Promise.resolve()],
    ["was not answered", never],
  ])("hears on from another, as often as one ends whose subscription %s", (_, answers) => {
    const { clock, nodes, heard, listening } = open(() => true, answers);
    for (const news of ["one", "two", "three"]) {
      expect(nodes.at(-1)?.subscribe.mock.calls).toEqual([["news"]]);
      nodes.at(-1)?.emit("message", "news", news);
      nodes.at(-1)?.emit("end");
      clock.advance(500);
    }
    expect(heard).toEqual(["one", "two", "three"]);
    expect(nodes).toHaveLength(4);
    listening.stop();
  });
  it("looks for another until one is there", () => {
    let isThere = false;
    const { clock, nodes, listening } = open(() => isThere);
    clock.advance(60_000);
    isThere = true;
    clock.advance(500);
    expect(nodes.at(-1)?.subscribe.mock.calls).toEqual([["news"]]);
    listening.stop();
  });
  it.each(["before", "after"])("opens none any more where it is stopped %s its own has ended", (when) => {
    const { clock, nodes, listening } = open();
    if (when === "after") nodes[0]?.emit("end");
    listening.stop();
    expect(clock.next).toBeUndefined();
    expect(nodes).toHaveLength(1);
  });
  it("asks now and then whether the other side is still there", () => {
    const { clock, nodes, listening } = open();
    clock.advance(60_000);
    expect(nodes[0]?.ping.mock.calls.length).toBe(12);
    listening.stop();
  });
});
