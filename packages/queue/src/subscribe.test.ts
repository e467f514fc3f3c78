import { silentLog } from "@drover/controller";
import {
  type Forwarder,
  type RedisServer,
  redisRequest,
  startForwarder,
  startRedis,
} from "@drover/local-servers";
import type { Timers } from "@drover/timers";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { connectRedis } from "./redis-connection.ts";
import { subscribe } from "./subscribe.ts";

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
