import { objectKey } from "@drover/controller";
import { expect, it, vi } from "vitest";
import {
  key,
  ledgerUnderTest,
  lease,
  recoveryWindow,
  outcomesExceptGone,
} from "./contract/ledger-under-test.ts";
import { maxErrorLength, maxPauseAuthorLength } from "./ledger.ts";
import { ledgerContract } from "./contract/ledger.contract.ts";
import { ownSetName } from "../redis/lua/recorded-scripts.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";
import { openRedisLedger } from "./redis-ledger.ts";

const at = await redisUnderTest();
ledgerContract(at.open);

const t = ledgerUnderTest(at.open);

it("gone leaves no Redis key behind but the last answer and the history, for a minute", async () => {
  await t.wakeAndClaim(key, "t");
  const past = { trigger: [], duration: 1, verdict: "gone" } as const;
  await t.ledger.settle(key, "t", { kind: "gone" }, past);
  const ofKey = [`${at.prefix}:history:${key}`, `${at.prefix}:key:${key}`];
  const others = ["control", "scripts", "workers"].map((name) => `${at.prefix}:${name}`);
  expect((await at.redis.keys(`${at.prefix}:*`)).sort()).toEqual([...others, ...ofKey].sort());
  for (const name of ofKey) {
    expect(await at.redis.pttl(name)).toBeGreaterThan(0);
    expect(await at.redis.pttl(name)).toBeLessThanOrEqual(60_000);
  }
});

it("keeps the script sets of live workers, and that of the last one", async () => {
  const scripts = `${at.prefix}:scripts`;
  const worker = { worker: "w1", slots: 1, version: 1, backoff: { first: 20, longest: 50 }, accounts: {} };
  await at.redis.hset(scripts, { live: 9e15, stale: 1, foreign: "x" });
  await t.ledger.registerWorker({ ...worker, lasts: 1_000 });
  const kept = await at.redis.hgetall(scripts);
  expect(Object.keys(kept).sort()).toEqual([ownSetName, "live"].sort());
  expect(kept[ownSetName]).toBe(String(t.clock + 1_000));
  await t.ledger.registerWorker({ ...worker, slots: 0, lasts: 1_000 });
  expect(await at.redis.hgetall(scripts)).toEqual(kept);
  await at.redis.hset(scripts, Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`s${i}`, 9e15])));
  await t.ledger.registerWorker({ ...worker, lasts: 1_000 });
  expect(await at.redis.hkeys(scripts)).toEqual([ownSetName]);
});

/** Redis time, ms. */
const time = async (): Promise<number> => {
  const [seconds = 0, micros = 0] = await at.redis.time();
  return seconds * 1_000 + Math.floor(micros / 1_000);
};
const endsOf = (...kinds: readonly string[]) =>
  Promise.all(kinds.map((kind) => at.redis.pexpiretime(`${at.prefix}:${kind}:${key}`)));
const past = { at: "2026-01-01T00:00:00Z", trigger: [], duration: 1, verdict: "done" } as const;

it("keeps no more runs of a key in Redis than it shows", async () => {
  const past = { trigger: [], duration: 1, verdict: "done" } as const;
  for (let i = 0; i < 13; i++) {
    await t.wakeAndClaim(key, `t${i}`);
    await t.ledger.settle(key, `t${i}`, { kind: "done" }, past);
  }
  const { runs } = await t.ledger.inspect(key);
  expect(runs).toHaveLength(10);
  expect(await at.redis.llen(`${at.prefix}:history:${key}`)).toBe(runs.length);
});

it("keeps no more of an error, nor of who paused, than is of use", async () => {
  await t.wakeAndRun(key, { kind: "terminal", error: "e".repeat(5_000) });
  await t.ledger.pause({ kind: "object", key }, "p".repeat(5_000));
  const { error, pauses } = await t.inspect(key);
  expect([error, pauses[0]?.by]).toEqual(["e".repeat(maxErrorLength), "p".repeat(maxPauseAuthorLength)]);
});

it("renews every lease, however many a worker has", async () => {
  const lost = Array.from({ length: 2_500 }, (_, i) => ({
    key: objectKey({ name: `n${i}` }),
    token: `t${i}`,
  }));
  expect((await t.ledger.renew(lost)).lost).toEqual(lost.map(({ token }) => token));
});

it("what is left of a key that is gone stays for the whole minute", async () => {
  await t.wakeAndClaim(key, "t");
  const before = await time();
  await t.ledger.settle(key, "t", { kind: "gone" }, past);
  const after = await time();
  for (const end of await endsOf("key", "history")) {
    expect(end).toBeGreaterThanOrEqual(before + 60_000);
    expect(end).toBeLessThanOrEqual(after + 60_001);
  }
});

it.each(outcomesExceptGone)("a key whose run %s keeps what it has, and its history", async (_, outcome) => {
  await t.wakeAndClaim(key, "t");
  await t.ledger.settle(key, "t", outcome, past);
  expect(await endsOf("key", "history")).toEqual([-1, -1]);
});

it("a key that was woken while its run found it gone is not forgotten", async () => {
  await t.wakeAndClaim(key, "t");
  await t.wake(key);
  await t.ledger.settle(key, "t", { kind: "gone" }, past);
  expect(await endsOf("key", "history")).toEqual([-1, -1]);
  expect((await t.inspect(key)).state).toBe("dispatched");
});

it("time is the server's, whatever a client's clock says", async () => {
  const ledger = openRedisLedger({
    redis: at.redis,
    prefix: `${at.prefix}-clock`,
    lease,
    recoveryWindow,
    onIncarnation: () => undefined,
  });
  const before = await time();
  vi.useFakeTimers({ toFake: ["Date", "performance"], now: before + 10_000_000 });
  const { at: now } = await ledger.time();
  vi.useRealTimers();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(await time());
});

it("a server that was demoted and promoted again is another one: it may have lost what it had", async () => {
  const incarnations: string[] = [];
  const onIncarnation = (incarnation: string): void => void incarnations.push(incarnation);
  const ledger = openRedisLedger({
    redis: at.redis,
    prefix: at.prefix,
    lease,
    recoveryWindow,
    onIncarnation,
  });
  await ledger.time();
  await ledger.time();
  expect(incarnations).toHaveLength(1);
  await at.redis.replicaof("127.0.0.1", 1);
  await at.redis.replicaof("NO", "ONE");
  await ledger.time();
  expect(incarnations).toHaveLength(2);
});

it("a cached object and lists that a run leaves go away after ten seconds, and the deltas with them", async () => {
  await t.wakeAndClaim(key, "t", { uid: "u1", resourceVersion: "1" });
  const observed = {
    kind: "buckets",
    uid: "u1",
    resourceVersion: "1",
    cachedObject: "{}",
    cachedLists: "[]",
  };
  await t.wake(key, { kind: "pods", delta: "during" });
  await t.ledger.settle(key, "t", { kind: "wait", after: 1, observed });
  for (const name of [`${at.prefix}:object:${key}`, `${at.prefix}:lists:${key}`]) {
    expect(await at.redis.pttl(name)).toBeGreaterThan(0);
    expect(await at.redis.pttl(name)).toBeLessThanOrEqual(10_000);
    await at.redis.del(name);
  }
  await t.wake(key, { kind: "pods", delta: "since" });
  expect(await at.redis.exists(`${at.prefix}:deltas:${key}`)).toBe(0);
  const claim = await t.claim(key, "t2");
  expect([claim.cachedObject, claim.cachedLists]).toEqual([undefined, undefined]);
});

it("a cached object and lists that a run leaves are kept as long as the run says", async () => {
  await t.wakeAndClaim(key, "t", { uid: "u1", resourceVersion: "1" });
  const seen = { kind: "buckets", uid: "u1", resourceVersion: "1" };
  const observed = { ...seen, cachedObject: "{}", cachedLists: "[]", keepFor: 3_600_000 };
  await t.ledger.settle(key, "t", { kind: "wait", after: 1, observed });
  for (const name of [`${at.prefix}:object:${key}`, `${at.prefix}:lists:${key}`]) {
    expect(await at.redis.pttl(name)).toBeGreaterThan(3_000_000);
    expect(await at.redis.pttl(name)).toBeLessThanOrEqual(3_600_000);
  }
});

it("a change that a run has seen counts again when its lists are gone", async () => {
  await t.wakeAndClaim(key, "t", { uid: "u1", resourceVersion: "1" });
  const observed = { kind: "buckets", uid: "u1", resourceVersion: "1", cachedLists: "[]", seen: ["n"] };
  await t.ledger.settle(key, "t", { kind: "done", observed });
  expect(await t.wake(key, { kind: "pods", delta: "n1" })).toEqual([]);
  await at.redis.del(`${at.prefix}:lists:${key}`);
  expect(await t.wake(key, { kind: "pods", delta: "n1" })).toEqual([key]);
});

it("passes over what somebody else put into a list of keys", async () => {
  await t.wakeAndRun(key, { kind: "terminal", error: "no" });
  await at.redis.zadd(`${at.prefix}:parked`, 1, "a/b/c", 2, "");
  expect((await t.ledger.list("parked", 10)).keys.map((report) => report.key)).toEqual([key]);
  await at.redis.hset(`${at.prefix}:key:${key}`, "paused", "garbage");
  expect((await t.ledger.list("parked", 10)).keys).toMatchObject([
    { pauses: [{ scope: "annotation", since: 0 }] },
  ]);
});

it("no deltas stay of a run that leaves no lists", async () => {
  await t.wakeAndClaim(key, "t", { uid: "u1", resourceVersion: "1" });
  await t.wake(key, { kind: "pods", delta: "during" });
  expect(await at.redis.exists(`${at.prefix}:deltas:${key}`)).toBe(1);
  await t.ledger.settle(key, "t", { kind: "retry", error: "e" });
  expect(await at.redis.exists(`${at.prefix}:deltas:${key}`)).toBe(0);
});

it("lists are not given when somebody has taken away some of the deltas", async () => {
  await t.wakeAndClaim(key, "t", { uid: "u1", resourceVersion: "1" });
  const observed = { kind: "buckets", uid: "u1", resourceVersion: "1", cachedLists: "[]" };
  await t.wake(key, { kind: "pods", delta: "a" });
  await t.wake(key, { kind: "pods", delta: "b" });
  await at.redis.srem(`${at.prefix}:deltas:${key}`, "a");
  await t.ledger.settle(key, "t", { kind: "done", observed });
  await t.dispatched();
  expect((await t.claim(key, "t2")).cachedLists).toBeUndefined();
});

it("a wake makes a key and its history last that were about to be forgotten", async () => {
  await t.wakeAndClaim(key, "t");
  const past = { trigger: [], duration: 1, verdict: "gone" } as const;
  await t.ledger.settle(key, "t", { kind: "gone" }, past);
  await t.wake(key);
  for (const name of ["key", "history"]) {
    expect(await at.redis.pttl(`${at.prefix}:${name}:${key}`)).toBe(-1);
  }
});

it("the outcome of a run that the server does not know of makes a key last that was about to be forgotten", async () => {
  await t.wakeAndRun(key, { kind: "gone" });
  const failOver = await t.backup();
  await failOver();
  await t.ledger.settle(key, "unknown", { kind: "done" });
  expect(await at.redis.pttl(`${at.prefix}:key:${key}`)).toBe(-1);
});

it("a claim that somebody has changed is one that nothing is known of", async () => {
  await t.wake(key, { uid: "u1" });
  await at.redis.hset(`${at.prefix}:key:${key}`, "reasons", "garbage");
  expect((await t.claim(key, "t")).reasons).toEqual([]);
  await at.redis.hset(`${at.prefix}:key:${key}`, "claim", "garbage");
  expect(await t.claim(key, "t")).toMatchObject({ fails: 0, reasons: [], versions: {} });
});
