import { type Log, objectKey, silentLog } from "@drover/controller";
import {
  type RedisPair,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startRedisPair,
} from "@drover/local-servers";
import { Redis } from "ioredis";
import { createHash } from "node:crypto";
import { z } from "zod";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openWorkQueue } from "../../work-queue/bullmq-work-queue.ts";
import { loadedScripts } from "./loaded-scripts.ts";
import { queuePrefix } from "../../work-queue/queue-prefix.ts";
import { connectRedis, disconnectRedis } from "../redis-connection.ts";
import type { RedisConnection } from "../redis-servers.ts";
import { openRedisLedger } from "../../ledger/redis-ledger.ts";
import { type RedisRole, redisUserRules } from "../users/redis-users.ts";
import { ScriptsMissingError } from "./lua-script.ts";
import type { QueueWorker, Run, RunOutcome, WorkQueue } from "../../work-queue/work-queue.ts";
import { wakeOf } from "../../work-queue/work-queue.contract.ts";

const hashOf = (kind: string) => (text: string) => createHash(kind).update(text).digest("hex");
const [sha1, sha256] = [hashOf("sha1"), hashOf("sha256")];
const controller = "anvils";
const times = { lease: 1_200, renewal: 200, recoveryWindow: 400 };
const key = objectKey({ namespace: "a", name: "first" });
const loaders = ["bridge", "embedded", "deployer"];
/** As a redis.conf has it: users made by ACL SETUSER are gone when a server is restarted. */
const users = (cluster: boolean): readonly string[] =>
  (["bridge", "function"] as const).flatMap((role) => {
    const rules = redisUserRules({ role, controllers: [controller], cluster });
    return ["--user", role, ...rules.split(" "), ">secret"];
  });

const closing: (() => Promise<unknown>)[] = [];
const lines: string[] = [];
/** What is said of scripts; of an old server there is more to say. */
const line = (_fields: object, message: string): void => {
  if (message.includes("scripts")) lines.push(message);
};
const log: Log = { ...silentLog, info: line, warn: line, error: line };
const as = async (role: RedisRole, url: string): Promise<RedisConnection> => {
  const redis = await connectRedis({
    url: url.replaceAll("redis://", `redis://${role}:secret@`),
    clientName: role,
    log: role === "function" ? log : silentLog,
    loadsScripts: loaders.includes(role),
    recordScriptsAs: role === "bridge" ? "1.0.0" : undefined,
  });
  closing.unshift(() => disconnectRedis(redis));
  return redis;
};
const open = (redis: RedisConnection): WorkQueue => {
  const queue = openWorkQueue({ redis, controller, log: silentLog, times, upkeep: "own" });
  closing.unshift(() => queue.close());
  return queue;
};
const work = (queue: WorkQueue, handler: (run: Run) => Promise<RunOutcome>): QueueWorker => {
  const worker = queue.work(handler, { concurrency: 4, timeout: 60_000 });
  closing.unshift(() => worker.drain(0));
  return worker;
};
const admin = (url: string): Redis => {
  const redis = new Redis(url);
  redis.on("error", () => undefined);
  closing.unshift(() => redis.quit());
  return redis;
};
/** How many of the scripts a server has. */
const has = async (server: Redis): Promise<number> =>
  z
    .array(z.number())
    .parse(await server.script("EXISTS", ...loadedScripts.map(({ sha }) => sha)))
    .reduce((sum, one) => sum + one, 0);
const calls = async (server: Redis, command: string): Promise<number> =>
  Number(
    new RegExp(`^cmdstat_${command}:calls=(\\d+)`, "m").exec(await server.info("commandstats"))?.[1] ?? 0,
  );
const errors = async (server: Redis, code: string): Promise<number> =>
  Number(new RegExp(`^errorstat_${code}:count=(\\d+)`, "m").exec(await server.info("errorstats"))?.[1] ?? 0);

beforeEach(() => void lines.splice(0));
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe("one server", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ persistence: true, args: users(false) });
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    const redis = admin(server.url);
    await redis.flushall();
    await redis.script("FLUSH");
    await redis.config("RESETSTAT");
  });

  it("has all scripts when a bridge has connected, and none is sent by a function", async () => {
    const redis = admin(server.url);
    await as("bridge", server.url);
    expect(await has(redis)).toBe(loadedScripts.length);
    const loads = await calls(redis, "script\\|load");
    const ran: string[] = [];
    const queue = open(await as("function", server.url));
    await queue.time(); // when the ledger has settled
    await queue.wake([wakeOf(key)]); // with no slot to take it: BullMQ brings it
    work(queue, (run) => (ran.push(run.key), Promise.resolve({ kind: "done" })));
    await expect.poll(() => ran).toEqual([key]);
    expect(await redis.exists(`${queuePrefix(controller)}:jobs:events`)).toBe(1);
    expect(await calls(redis, "eval")).toBe(0);
    expect(await calls(redis, "script\\|load")).toBe(loads);
    expect(await redis.acl("LOG")).toEqual([]);
  });

  it("is given them again when it was restarted, and functions go on, none of whose runs has failed", async () => {
    await as("bridge", server.url);
    const ran: Run[] = [];
    const queue = open(await as("function", server.url));
    work(queue, (run) => (ran.push(run), Promise.resolve({ kind: "done" })));
    await queue.wake([wakeOf(key)]);
    await expect.poll(() => ran.length).toBe(1);
    await server.kill();
    await server.restart();
    await queue.wake([{ ...wakeOf(key), resourceVersion: "2" }]);
    await expect.poll(() => ran.length, { timeout: 10_000 }).toBe(2);
    expect(ran.map(({ claim }) => claim.fails)).toEqual([0, 0]);
    expect(await has(admin(server.url))).toBe(loadedScripts.length);
  });

  it("is given them again after a SCRIPT FLUSH", async () => {
    const redis = admin(server.url);
    await as("bridge", server.url);
    await redis.script("FLUSH");
    await expect.poll(() => has(redis), { timeout: 5_000 }).toBe(loadedScripts.length);
    const queue = open(await as("function", server.url));
    await redis.script("FLUSH");
    await queue.wake([wakeOf(key)]);
    expect(await queue.stats(10_000)).toMatchObject({ due: 1, failing: 0 });
  });

  it("is given them again where it refused them for a while", async () => {
    const redis = admin(server.url);
    const refused = Promise.withResolvers<undefined>();
    const warn = (_fields: object, message: string): void => {
      if (message.includes("Could not load scripts")) refused.resolve(undefined);
    };
    const url = server.url.replace("//", "//bridge:secret@");
    const bridge = await connectRedis({ url, clientName: "bridge", log: { ...silentLog, warn } });
    closing.unshift(() => disconnectRedis(bridge));
    await redis.call("ACL", "SETUSER", "bridge", "-script|load");
    await redis.script("FLUSH");
    await refused.promise;
    expect(await has(redis)).toBe(0);
    await redis.call("ACL", "SETUSER", "bridge", "+script|load");
    await expect.poll(() => has(redis)).toBe(loadedScripts.length);
    await redis.acl("LOG", "RESET");
  });

  it("that lacks them keeps a function waiting, which says so, is not ready, and counts nothing as failed", async () => {
    const redis = admin(server.url);
    const queue = open(await as("function", server.url));
    const ran: Run[] = [];
    work(queue, (run) => (ran.push(run), Promise.resolve({ kind: "done" })));
    const waking = queue.wake([wakeOf(key)]);
    await expect
      .poll(() => queue.ping(10_000).then(String, String), { timeout: 10_000 })
      .toContain("ScriptsMissing");
    await expect(queue.ping(10_000)).rejects.toThrow(ScriptsMissingError);
    await expect(queue.ping(10_000)).rejects.toThrow(
      /bridge or a deployer of the same version.*docs\/operating-redis/,
    );
    await expect.poll(() => lines).toEqual(["Waiting for scripts that Redis does not have"]);
    // It asks now and then, not in a hot loop: by now each caller has for three seconds.
    expect(await errors(redis, "NOSCRIPT")).toBeGreaterThan(10);
    expect(await errors(redis, "NOSCRIPT")).toBeLessThan(300);
    expect(await redis.keys(`${queuePrefix(controller)}:quarantine:*`)).toEqual([]);
    await as("bridge", server.url);
    await waking;
    await expect.poll(() => ran.map(({ claim }) => claim.fails)).toEqual([0]);
    await queue.ping(10_000);
    await expect.poll(() => lines).toContain("Redis has the scripts of Drover again");
    expect(await redis.acl("LOG")).toEqual([]);
  });

  it("refuses a bridge that may not load them, and says what to grant", async () => {
    const redis = admin(server.url);
    const rules = redisUserRules({ role: "bridge", controllers: [controller] }).replace(
      " +script|load ",
      " ",
    );
    await redis.call("ACL", "SETUSER", "poor", ...rules.split(" "), ">secret");
    const url = server.url.replace("//", "//poor:secret@");
    await expect(connectRedis({ url, clientName: "poor", log: silentLog })).rejects.toThrow(
      /Scripts cannot be loaded into Redis.*Grant it with ACL SETUSER/,
    );
    await redis.acl("LOG", "RESET");
  });

  it("makes an operator at a terminal wait for a limited time only", async () => {
    const redis = await connectRedis({
      url: server.url.replace("//", "//function:secret@"),
      clientName: "cli",
      log: silentLog,
      loadsScripts: false,
      scriptTimeout: 50,
    });
    const ledger = openRedisLedger({ redis, prefix: queuePrefix(controller), ...times });
    await expect(ledger.count()).rejects.toThrow(ScriptsMissingError);
    await disconnectRedis(redis);
  });
});

describe("a primary and its replica", () => {
  let pair: RedisPair;
  beforeAll(async () => {
    pair = await startRedisPair({ persistence: false, args: users(false) });
  });
  afterAll(() => pair.stop());

  it("a function leaves a server that was demoted, and lacks scripts, for the one that has them", async () => {
    const [old, next] = [admin(pair.primary.url), admin(pair.replica.url)]; // they swap
    await disconnectRedis(await as("bridge", pair.url));
    const redis = await as("function", pair.url);
    const ledger = openRedisLedger({ redis, prefix: queuePrefix(controller), ...times });
    await ledger.wake([wakeOf(key)]);
    await pair.caughtUp();
    await pair.failOver({ old: "demoted" });
    await old.script("FLUSH");
    await as("bridge", pair.primary.url);
    await ledger.wake([{ ...wakeOf(key), resourceVersion: "2" }]);
    expect(await next.hget(`${queuePrefix(controller)}:key:${key}`, `version:${wakeOf(key).kind}`)).toBe("2");
  });
});

describe("a cluster of three", () => {
  it("has them on replicas, too, so that they are there when one takes over", async () => {
    const args = ["--cluster-require-full-coverage", "no", ...users(true)];
    const cluster = await startRedisCluster({ persistence: false, replicas: 1, args });
    closing.unshift(() => cluster.stop());
    const nodes = cluster.nodes.map(({ url }) => admin(url));
    const [theirs, name] = ['["return 1"]', sha256('["return 1"]')];
    await admin((await cluster.primaryOf("{drover-scripts}")).url).set(`{drover-scripts}:${name}`, theirs);
    await admin((await cluster.primaryOf("{drover-scripts}")).url).hset("{drover-scripts}", name, "1 0.9.0");
    await as("bridge", cluster.url);
    const queue = open(await as("function", cluster.url));
    const ran: Run[] = [];
    work(queue, (run) => (ran.push(run), Promise.resolve({ kind: "done" })));
    await queue.wake([wakeOf(key)]);
    await expect.poll(() => ran.length, { timeout: 10_000 }).toBe(1);
    // Redis 7.0 names a replica only when something was written: until then nobody knows of it.
    await expect
      .poll(() => Promise.all(nodes.map(has)), { timeout: 10_000 })
      .toEqual(nodes.map(() => loadedScripts.length));
    const hasTheirs = (node: Redis) => node.script("EXISTS", sha1("return 1"));
    await expect
      .poll(() => Promise.all(nodes.map(hasTheirs)), { timeout: 10_000 })
      .toEqual(nodes.map(() => [1]));
    const primary = await cluster.primaryOf(queuePrefix(controller));
    const replica = cluster.nodes[cluster.nodes.indexOf(primary) + 3]!;
    await primary.kill();
    await cluster.takeOver(replica);
    await queue.wake([{ ...wakeOf(key), resourceVersion: "2" }]);
    await expect.poll(() => ran.length, { timeout: 20_000 }).toBe(2);
    expect(ran.map(({ claim }) => claim.fails)).toEqual([0, 0]);
  });
});
