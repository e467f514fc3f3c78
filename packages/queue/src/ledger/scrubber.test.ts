import { silentLog } from "@drover/controller";
import { expect, it, vi } from "vitest";
import { maxKeysPerRepair } from "../redis/lua/script-bounds.ts";
import { keysIn, ledgerUnderTest } from "./contract/ledger-under-test.ts";
import { startScrubber } from "./scrubber.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";

const at = await redisUnderTest();
const t = ledgerUnderTest(at.open);

it("looks over every key, a few of them in one script, and entries after the sets that they are looked up in", async () => {
  for (const key of keysIn("a", 3 * maxKeysPerRepair)) await t.wake(key);
  const looked: (readonly string[])[] = [];
  const ledger = {
    repairSets: () => Promise.resolve([]),
    repair: (names: readonly string[]) => (looked.push(names), Promise.resolve([])),
  };
  await startScrubber({ redis: at.redis, prefix: at.prefix, ledger, log: silentLog, mayScan: true }).step();
  const names = looked.flat();
  expect(names.toSorted()).toEqual((await at.redis.keys(`${at.prefix}:*`)).sort());
  expect(looked.every(({ length }) => length <= maxKeysPerRepair)).toBe(true);
  const isEntry = names.map((name) => name.startsWith(`${at.prefix}:key:`));
  expect(isEntry.lastIndexOf(false)).toBeLessThan(isEntry.indexOf(true));
});

it("logs what it put right, once, and nothing where nothing was wrong", async () => {
  await t.wake(keysIn("a", 1)[0]!);
  const warnings: unknown[][] = [];
  const log = { ...silentLog, warn: (...words: unknown[]) => void warnings.push(words) };
  const { prefix } = at;
  /** A scrubber takes no second step within a second, nor does a connection. */
  const step = async (): Promise<void> => {
    const redis = at.redis.duplicate();
    await startScrubber({ redis, prefix, ledger: t.ledger, log, mayScan: true }).step();
    redis.disconnect();
  };
  await step();
  expect(warnings).toEqual([]);
  for (const name of ["waits", "key:a/b"]) await at.redis.set(`${prefix}:${name}`, "garbage");
  await step();
  await step();
  const words = "Another client changed the ledger in Redis; the changes were repaired";
  expect(warnings).toEqual([
    [{ found: ["waits"] }, words],
    [{ found: ["key:a/b"] }, words],
  ]);
});

it("queues of one connection share a walk, and one that cannot be looked over keeps no other from it", async () => {
  const redis = at.redis.duplicate();
  const scans: unknown[] = [];
  const scan = redis.scan.bind(redis);
  redis.scan = ((...args: Parameters<typeof scan>) => (scans.push(args), scan(...args))) as typeof redis.scan;
  const looked: string[] = [];
  const queue = (name: string, repair: () => Promise<readonly string[]>) => {
    const ledger = { repairSets: () => Promise.resolve([]), repair };
    return startScrubber({ redis, prefix: `{drover:${name}}`, ledger, log: silentLog, mayScan: true });
  };
  const saw = (name: string) => (looked.push(name), Promise.resolve([]));
  for (const name of ["broken", "one", "left"]) await redis.hset(`{drover:${name}}:control`, "a", "b");
  const broken = queue("broken", () => Promise.reject(new Error("refused")));
  const one = queue("one", () => saw("one"));
  queue("left", () => saw("left")).stop();
  await broken.step();
  await one.step();
  expect(looked).toEqual(["one"]);
  expect(scans).toHaveLength(1);
  await redis.quit();
});

it("comes round to every key, however many there are, and goes round again", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const redis = at.redis.duplicate();
  const names = Array.from({ length: 3_500 }, (_, i) => `${at.prefix}:key:a/n${i}`);
  await redis.mset(Object.fromEntries(names.map((name) => [name, ""])));
  const looked = new Map<string, number>();
  const ledger = {
    repairSets: () => Promise.resolve([]),
    repair(some: readonly string[]) {
      for (const name of some) looked.set(name, (looked.get(name) ?? 0) + 1);
      return Promise.resolve([]);
    },
  };
  const walking = startScrubber({ redis, prefix: at.prefix, ledger, log: silentLog, mayScan: true });
  const round = async (): Promise<void> => {
    const before = new Map(looked);
    for (let i = 0; i < 20 && names.some((name) => looked.get(name) === before.get(name)); i++) {
      vi.advanceTimersByTime(1_000);
      await walking.step();
    }
    expect(names.filter((name) => looked.get(name) === before.get(name))).toEqual([]);
  };
  await round();
  await round();
  vi.useRealTimers();
  await redis.quit();
});

it("goes on for a queue that was opened again before it was closed", async () => {
  const redis = at.redis.duplicate();
  await redis.flushall(); // one scan finds it
  await redis.set(`${at.prefix}:key:a/b`, "");
  const looked: string[] = [];
  const open = (name: string) => {
    const repair = () => (looked.push(name), Promise.resolve([]));
    const ledger = { repairSets: () => Promise.resolve([]), repair };
    return startScrubber({ redis, prefix: at.prefix, ledger, log: silentLog, mayScan: true });
  };
  const [before, after] = [open("before"), open("after")];
  before.stop();
  await after.step();
  expect(looked).toEqual(["after"]);
  await redis.quit();
});

it("scans nothing where it may not", async () => {
  const redis = at.redis.duplicate();
  const scan = vi.spyOn(redis, "scan");
  const repairSets = vi.fn(() => Promise.resolve([]));
  const ledger = { repairSets, repair: () => Promise.resolve([]) };
  await startScrubber({ redis, prefix: at.prefix, ledger, log: silentLog, mayScan: false }).step();
  expect([repairSets.mock.calls.length, scan.mock.calls.length]).toEqual([1, 0]);
  await redis.quit();
});
