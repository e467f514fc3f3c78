import { expect, it } from "vitest";
import { key, ledgerUnderTest } from "./ledger-contract/ledger-under-test.ts";
import { ledgerContract } from "./ledger-contract/ledger.contract.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";

const at = redisUnderTest();
ledgerContract(at.open);

const t = ledgerUnderTest(at.open);

it("gone leaves no Redis key behind but the last answer and the history, for a minute", async () => {
  await t.wake(key);
  await t.claim(key, "t");
  const past = { at: "2026-01-01T00:00:00Z", trigger: [], duration: 1, verdict: "gone" } as const;
  await t.ledger.settle(key, "t", { kind: "gone" }, past);
  const ofKey = [`${at.prefix}:history:${key}`, `${at.prefix}:key:${key}`];
  const others = [`${at.prefix}:control`, `${at.prefix}:workers`];
  expect((await at.redis.keys(`${at.prefix}:*`)).sort()).toEqual([...others, ...ofKey].sort());
  for (const name of ofKey) {
    expect(await at.redis.pttl(name)).toBeGreaterThan(0);
    expect(await at.redis.pttl(name)).toBeLessThanOrEqual(60_000);
  }
});

it("a copy that a run leaves goes away after ten seconds", async () => {
  await t.wake(key, { uid: "u1", resourceVersion: "1" });
  await t.claim(key, "t");
  const saw = { kind: "buckets", uid: "u1", resourceVersion: "1", copy: "{}" };
  await t.ledger.settle(key, "t", { kind: "done", saw });
  const name = `${at.prefix}:copy:${key}`;
  expect(await at.redis.pttl(name)).toBeGreaterThan(0);
  expect(await at.redis.pttl(name)).toBeLessThanOrEqual(10_000);
  await at.redis.del(name);
  await t.wake(key, { kind: "pods" });
  expect((await t.claim(key, "t2")).copy).toBeUndefined();
});

it("a wake makes a key and its history last that were about to be forgotten", async () => {
  await t.wake(key);
  await t.claim(key, "t");
  const past = { at: "2026-01-01T00:00:00Z", trigger: [], duration: 1, verdict: "gone" } as const;
  await t.ledger.settle(key, "t", { kind: "gone" }, past);
  await t.wake(key);
  for (const name of ["key", "history"]) {
    expect(await at.redis.pttl(`${at.prefix}:${name}:${key}`)).toBe(-1);
  }
});
