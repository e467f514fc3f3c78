import { type Log, objectKey, type ObjectKey } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import type { Redis } from "ioredis";
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import {
  connectRedis,
  openWorkQueue,
  type QueueWorker,
  type Run,
  type Verdict,
  type WorkQueue,
} from "./index.ts";

const quiet: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const key = objectKey({ namespace: "default", name: "photos" });
const wakeOf = (of: ObjectKey) =>
  ({ key: of, kind: "buckets", resourceVersion: "1", reason: "Added", class: "change" }) as const;

let server: RedisServer;
let redis: Redis;
let queue: WorkQueue;
let workers: QueueWorker[];

beforeAll(async () => {
  server = await startRedis({ persistence: true });
  redis = await connectRedis({ url: server.url, clientName: "test", log: quiet });
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => {
  workers = [];
  const times = { lease: 1_200, renewal: 200, settling: 400 };
  queue = openWorkQueue({ redis, controller: randomUUID(), log: quiet, times });
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.drain(0)));
  await queue.close();
});

const work = (handler: (run: Run) => Promise<Verdict>, { concurrency = 4, timeout = 60_000 } = {}) => {
  const verdicts: Verdict["kind"][] = [];
  const worker = queue.work(handler, {
    concurrency,
    timeout,
    backoff: { first: 20, longest: 100 },
    onSettled: (_run, verdict) => void verdicts.push(verdict.kind),
  });
  workers.push(worker);
  return { worker, verdicts };
};

it("brings every woken key to a run", async () => {
  const ran = new Set<ObjectKey>();
  work((run) => {
    ran.add(run.key);
    return Promise.resolve({ kind: "done" });
  });
  const keys = Array.from({ length: 1_000 }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
  await queue.wake(keys.map(wakeOf));
  await vi.waitFor(() => expect(ran.size).toBe(1_000), { timeout: 20_000 });
});

it("keeps keys apart whose names are unusual, also for Redis, BullMQ, Lua and JavaScript", async () => {
  const names = [
    "a:b",
    "{a}",
    "a}{b",
    "%61",
    "a",
    "__proto__",
    "constructor",
    "\u0430",
    "a.b",
    "0",
    "-1",
    "*",
    "'\"\\",
  ];
  const keys = names.flatMap((name) => [objectKey({ name }), objectKey({ namespace: "ns", name })]);
  const ran: ObjectKey[] = [];
  work((run) => {
    ran.push(run.key);
    return Promise.resolve({ kind: "gone" });
  });
  await queue.wake(keys.map(wakeOf));
  await vi.waitFor(() => expect(ran).toHaveLength(keys.length));
  expect([...ran].sort()).toEqual([...keys].sort());
  await vi.waitFor(async () =>
    expect(await queue.stats(10_000)).toMatchObject({ due: 0, scheduled: 0, running: 0, parked: 0 }),
  );
});

it("never runs a key twice at once, however often it is woken, and runs it after the last wake", async () => {
  let running = 0;
  let most = 0;
  let heard = 0;
  let seen = 0;
  work(async () => {
    most = Math.max(most, ++running);
    const before = heard;
    await new Promise(setImmediate);
    seen = before;
    running--;
    return { kind: "done" };
  });
  for (let wakes = 1; wakes <= 300; wakes++) {
    heard = wakes;
    await queue.wake([wakeOf(key)]);
  }
  await vi.waitFor(() => expect(seen).toBe(300));
  expect(most).toBe(1);
});

it("retries a run that failed or threw, and starts over after a success", async () => {
  const fails: number[] = [];
  const { verdicts } = work((run) => {
    fails.push(run.claim.fails);
    if (fails.length === 1) throw new Error("thrown");
    return Promise.resolve(fails.length < 3 ? { kind: "retry", error: "no" } : { kind: "done" });
  });
  await queue.wake([wakeOf(key)]);
  await vi.waitFor(() => expect(verdicts).toEqual(["retry", "retry", "done"]));
  expect(fails).toEqual([0, 1, 2]);
});

it("aborts a run that takes too long, gives its slot back though it hangs, and refuses its writes", async () => {
  let hanging: Run | undefined;
  const { verdicts } = work(
    (run) => {
      if (run.claim.fails > 0) return Promise.resolve({ kind: "done" });
      hanging = run;
      return new Promise(() => undefined);
    },
    { concurrency: 1, timeout: 50 },
  );
  await queue.wake([wakeOf(key)]);
  await vi.waitFor(() => expect(verdicts).toEqual(["retry", "done"]), { timeout: 10_000 });
  expect(hanging?.signal.aborted).toBe(true);
  expect(hanging?.held()).toBe(false);
});

it("no longer calls a key its own when its verdict is in: it may run elsewhere by then", async () => {
  const held = Promise.withResolvers<readonly boolean[]>();
  let during: boolean | undefined;
  const handler = (run: Run): Promise<Verdict> => ((during = run.held()), Promise.resolve({ kind: "done" }));
  const worker = queue.work(handler, {
    concurrency: 1,
    timeout: 60_000,
    onSettled: (run) => held.resolve([during === true, run.held()]),
  });
  workers.push(worker);
  await queue.wake([wakeOf(key)]);
  expect(await held.promise).toEqual([true, false]);
});

it("holds a lease for as long as the run lasts", async () => {
  const ended = Promise.withResolvers<Verdict>();
  let runs = 0;
  const { verdicts } = work(() => (runs++, ended.promise));
  await queue.wake([wakeOf(key)]);
  await vi.waitFor(() => expect(runs).toBe(1));
  const deadlines = new Set<string | null>();
  const prefix = `{drover:${queue.controller}}`;
  await vi.waitFor(
    async () => {
      deadlines.add(await redis.zscore(`${prefix}:leases`, key));
      expect(deadlines.size).toBeGreaterThan(4); // more than a whole lease's renewals
    },
    { timeout: 10_000 },
  );
  ended.resolve({ kind: "done" });
  await vi.waitFor(() => expect(verdicts).toEqual(["done"]));
  expect(runs).toBe(1);
});

it("drains: runs under way end, nothing new starts, what is over its grace is due again at once", async () => {
  const started = Promise.withResolvers<Run>();
  const { worker, verdicts } = work((run) => {
    started.resolve(run);
    return new Promise((resolve) =>
      run.signal.addEventListener("abort", () => resolve({ kind: "interrupted" })),
    );
  });
  await queue.wake([wakeOf(key)]);
  await started.promise;
  const drained = worker.drain(10);
  await drained;
  expect(verdicts).toEqual(["interrupted"]);
  expect(await queue.stats(10_000)).toMatchObject({ due: 1, running: 0 });
  const { verdicts: next } = work(() => Promise.resolve({ kind: "done" }));
  await vi.waitFor(() => expect(next).toEqual(["done"]), { timeout: 10_000 });
});

it("rings again when every bell is lost", async () => {
  await queue.wake([wakeOf(key)]);
  const lost = await vi.waitFor(async () => {
    const bells = await redis.keys(`{drover:${queue.controller}}:bells:*`);
    expect(bells).toContain(`{drover:${queue.controller}}:bells:wait`);
    return redis.del(...bells);
  });
  expect(lost).toBeGreaterThan(0);
  const { verdicts } = work(() => Promise.resolve({ kind: "done" }));
  await vi.waitFor(() => expect(verdicts).toEqual(["done"]), { timeout: 10_000 });
});

it("goes on after Redis was killed: nothing acknowledged is lost", async () => {
  const keys = Array.from({ length: 50 }, (_, i) => objectKey({ name: `n${i}` }));
  await queue.wake(keys.map(wakeOf));
  await server.kill();
  const ran = new Set<ObjectKey>();
  work((run) => {
    ran.add(run.key);
    return Promise.resolve({ kind: "done" });
  });
  await server.restart();
  await vi.waitFor(() => expect(ran.size).toBe(50), { timeout: 20_000 });
});

it.each([
  ["allkeys-lru", "maxmemory-policy", /CONFIG SET maxmemory-policy noeviction/],
  ["noeviction", undefined, undefined],
])("says what to change when the server evicts keys: %s", async (policy, setting, message) => {
  const other = await startRedis({ persistence: false, args: ["--maxmemory-policy", policy] });
  const connecting = connectRedis({ url: other.url, clientName: "test", log: quiet });
  if (setting !== undefined) await expect(connecting).rejects.toThrow(message);
  else (await connecting).disconnect();
  await other.stop();
});

it("says what to give instead of a read-only replica", async () => {
  const args = ["--replicaof", "127.0.0.1", String(server.port)];
  const replica = await startRedis({ persistence: false, args });
  const connecting = connectRedis({ url: replica.url, clientName: "test", log: quiet });
  await expect(connecting).rejects.toThrow(/read-only replica\. Give the URL of its primary/);
  await replica.stop();
});

it("says what to check when the server refuses the password", async () => {
  const locked = await startRedis({ persistence: false });
  const admin = await connectRedis({ url: locked.url, clientName: "test", log: quiet });
  await admin.config("SET", "requirepass", "secret");
  const connecting = connectRedis({ url: locked.url, password: "wrong", clientName: "test", log: quiet });
  await expect(connecting).rejects.toThrow(/refuses us: .*Check user and password/);
  admin.disconnect();
  await locked.stop();
});

it.each([
  [{ lease: 2_000, renewal: 2_000 }, /at least twice its renewal: 4000 ms/],
  [{ lease: NaN }, /between 1 ms and 24 days/],
  [{ lease: -1 }, /between 1 ms/],
  [{ settling: 2 ** 31 }, /between 1 ms and 24 days/],
])("refuses times that cannot work: %j", (times, message) => {
  expect(() => openWorkQueue({ redis, controller: "refused", log: quiet, times })).toThrow(message);
});

it.each([
  [{ concurrency: 0 }, /between 1 and 10,000 keys at once, not 0/],
  [{ concurrency: 1.5 }, /not 1\.5/],
  [{ timeout: NaN }, /timeout is between 1 ms and 24 days/],
  [{ timeout: 2 ** 31 }, /timeout is between/],
  [{ version: -1 }, /whole number from 0 on, not -1/],
  [{ backoff: { first: 0 } }, /between 1 ms and 24 days, not 0/],
  [{ backoff: { longest: 1e308 } }, /between 1 ms and 24 days/],
  [{ backoff: { first: 10_000, longest: 1_000 } }, /longest backoff/],
  [{ backoff: { attempts: 0 } }, /Attempts are a whole number from 1 on/],
  [{ limits: { runs: { perSecond: 0, burst: 1 } } }, /runs a second/],
  [{ limits: { accounts: { a: { perSecond: 1, burst: 0.5 } } } }, /burst/],
])("refuses a worker that cannot work: %j", (options, message) => {
  const handler = (): Promise<Verdict> => Promise.resolve({ kind: "done" });
  expect(() => queue.work(handler, { concurrency: 1, timeout: 1_000, ...options })).toThrow(message);
});
