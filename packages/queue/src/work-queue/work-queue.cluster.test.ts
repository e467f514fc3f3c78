import { objectKey, type ObjectKey, silentLog } from "@drover/controller";
import { type RedisCluster, startRedisCluster } from "@drover/local-servers";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openWorkQueue } from "./bullmq-work-queue.ts";
import { queuePrefix } from "./queue-prefix.ts";
import { connectRedis, disconnectRedis } from "../redis/redis-connection.ts";
import type { RedisConnection } from "../redis/redis-servers.ts";
import { openRedisLedger } from "../ledger/redis-ledger.ts";
import { type RedisRole, redisUserRules } from "../redis/users/redis-users.ts";
import type { Run, RunOutcome, WorkQueue } from "./work-queue.ts";
import { wakeOf } from "./work-queue.contract.ts";

const times = { lease: 1_200, renewal: 200, recoveryWindow: 400 };
/** Their slots are on more than one primary. */
const controllers = ["anvils", "buckets", "crates", "drums"];
/** As a redis.conf has it, since users made by ACL SETUSER are gone when a node is restarted. */
const user = (role: RedisRole): readonly string[] => {
  const rules = redisUserRules({ role, controllers, cluster: true });
  return ["--user", role, ...rules.split(" "), `>${role}'s`];
};

let cluster: RedisCluster;
const closing: (() => Promise<unknown>)[] = [];
const as = async (role: RedisRole): Promise<RedisConnection> => {
  const url = cluster.url.replace("//", `//${role}:${encodeURIComponent(`${role}'s`)}@`);
  const redis = await connectRedis({
    url,
    clientName: role,
    log: silentLog,
    loadsScripts: role === "bridge",
  });
  closing.unshift(() => disconnectRedis(redis));
  return redis;
};
const open = (redis: RedisConnection, controller: string, incarnations: string[] = []): WorkQueue => {
  const onIncarnation = (incarnation: string): void => void incarnations.push(incarnation);
  const queue = openWorkQueue({ redis, controller, log: silentLog, times, onIncarnation, upkeep: "own" });
  closing.unshift(() => queue.close());
  return queue;
};
const work = (queue: WorkQueue, handler: (run: Run) => Promise<RunOutcome>): void => {
  const worker = queue.work(handler, {
    concurrency: 4,
    timeout: 60_000,
    backoff: { first: 20, longest: 100 },
  });
  closing.unshift(() => worker.drain(0));
};
const keys = Array.from({ length: 20 }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
const nodeOf = (controller: string) => cluster.primaryOf(queuePrefix(controller));

beforeAll(async () => {
  // One node that is away holds up its own controllers, not everybody's.
  const args = ["--cluster-require-full-coverage", "no", ...user("bridge"), ...user("function")];
  cluster = await startRedisCluster({ persistence: true, args });
});
afterAll(() => cluster.stop());
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe("on three primaries, as users who may do no more than they must", () => {
  it("every controller's keys run, those of a killed node when it is back, and the others meanwhile", async () => {
    const [bridge, functions] = [await as("bridge"), await as("function")];
    const ran = new Map<string, Set<ObjectKey>>();
    const told = new Map<string, string[]>();
    const waking = new Map<string, WorkQueue>();
    for (const controller of controllers) {
      const [mine, incarnations] = [new Set<ObjectKey>(), new Array<string>()];
      ran.set(controller, mine);
      told.set(controller, incarnations);
      waking.set(controller, open(bridge, controller, incarnations));
      work(open(functions, controller), (run) => (mine.add(run.key), Promise.resolve({ kind: "done" })));
    }
    const wakeAll = (queue: WorkQueue) => queue.wake(keys.map(wakeOf));
    await Promise.all([...waking.values()].map(wakeAll));
    const counts = (some: readonly string[]) => some.map((controller) => ran.get(controller)?.size);
    await expect.poll(() => counts(controllers), { timeout: 20_000 }).toEqual([20, 20, 20, 20]);

    for (const mine of ran.values()) mine.clear();
    const victim = await nodeOf(controllers[0] ?? "");
    const nodes = await Promise.all(controllers.map(nodeOf));
    const theirs = controllers.filter((_, i) => nodes[i] === victim);
    const others = controllers.filter((_, i) => nodes[i] !== victim);
    expect(others).not.toEqual([]);
    await victim.kill();
    const all = Promise.all([...waking.values()].map(wakeAll));
    await expect.poll(() => counts(others), { timeout: 20_000 }).toEqual(others.map(() => 20));
    expect(counts(theirs)).toEqual(theirs.map(() => 0));
    await victim.restart();
    await all;
    await expect.poll(() => counts(theirs), { timeout: 20_000 }).toEqual(theirs.map(() => 20));
    const wereTold = controllers.filter((controller) => told.get(controller)?.length);
    expect(wereTold).toEqual(theirs);
  });

  it("a key whose worker and node died is taken over when the node is back", async () => {
    const [controller = ""] = controllers;
    const [key] = keys as [ObjectKey];
    await as("bridge");
    const functions = await as("function");
    const dead = openRedisLedger({ redis: functions, prefix: queuePrefix(controller), ...times });
    await dead.wake([wakeOf(key)]);
    expect(await dead.claim(key, "of the dead")).toHaveProperty("claimed");
    const node = await nodeOf(controller);
    await node.kill();
    const taken = Promise.withResolvers<Run>();
    work(open(functions, controller), (run) => (taken.resolve(run), Promise.resolve({ kind: "done" })));
    await node.restart();
    expect(await taken.promise).toMatchObject({ key, claim: { fails: 1 } });
  });

  it("nothing that they did was denied", async () => {
    for (const { url } of cluster.nodes) {
      const node = new Redis(url);
      expect(await node.acl("LOG")).toEqual([]);
      node.disconnect();
    }
  });
});
