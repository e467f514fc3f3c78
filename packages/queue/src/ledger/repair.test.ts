import type { ObjectKey } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { done, key, keysIn, lease, ledgerUnderTest, recoveryWindow } from "./contract/ledger-under-test.ts";
import { redisUnderTest } from "./redis-ledger.fixture.ts";

const at = await redisUnderTest();
const t = ledgerUnderTest(at.open);
it("refuses a ledger that a newer Drover wrote, and changes nothing", async () => {
  await t.wake(key);
  await at.redis.hset(`${at.prefix}:control`, "schema", 99);
  await expect(t.wake(key)).rejects.toThrow(/SCHEMA 99/);
});

describe("what somebody else changed", () => {
  const [other] = keysIn("a", 1) as [ObjectKey];
  const rest = (name: string) => `${at.prefix}:${name}`;
  const repairAll = async () => [
    ...(await t.ledger.repairSets()),
    ...(await t.ledger.repair(await at.redis.keys(`${at.prefix}:*`))),
  ];

  it("is left alone where nothing is wrong, in every state", async () => {
    await t.registerWorker({ slots: 2, accounts: { aws: { perSecond: 1, burst: 1 } } });
    for (const each of keysIn("b", 5)) await t.wake(each);
    await t.run(keysIn("b", 5)[0]!, { kind: "terminal", error: "no" });
    await t.run(keysIn("b", 5)[1]!, { kind: "done", after: 5_000, account: "aws" });
    await t.claim(keysIn("b", 5)[2]!);
    await t.ledger.pause({ kind: "object", key }, "tests");
    await t.wake(key);
    await t.wake(keysIn("annotated", 1)[0]!, { paused: true });
    await t.wake(other);
    await t.run(keysIn("b", 5)[3]!, { kind: "throttled", account: "aws", after: 5_000 });
    await t.ledger.dispatch();
    await t.run(keysIn("b", 5)[4]!, { kind: "gone" });
    const before = await t.ledger.count();
    expect(before).toMatchObject({ paused: 2 });
    expect(await repairAll()).toEqual([]);
    expect(await t.ledger.count()).toEqual(before);
  });
  it("is left alone where keys wait behind a pause or a closed account: they keep their place", async () => {
    await t.registerWorker({ slots: 4 });
    const [throttled, held] = [keysIn("b", 2), keysIn("held", 2)];
    for (const each of throttled) await t.wake(each);
    await t.run(throttled[0]!, { kind: "done", account: "aws" });
    await t.run(throttled[1]!, { kind: "throttled", account: "aws", after: 600_000 });
    await t.ledger.pause({ kind: "namespace", namespace: "held" }, "tests");
    for (const each of [throttled[0]!, ...held]) {
      t.clock += 10;
      expect(await t.wake(each)).toEqual([]);
    }
    t.clock += 10;
    const before = await t.list("ready");
    expect(before.map((report) => report.key)).toEqual([throttled[1], throttled[0], ...held]);
    expect(await repairAll()).toEqual([]);
    expect(await t.list("ready")).toEqual(before);
  });
  it.each(["waits", "ready", "dispatched", "parked", "queue:change:default/", "flows:change"])(
    "%s removed: every key that stood there runs",
    async (set) => {
      await t.registerWorker({ slots: 1 });
      await t.wake(other);
      if (set !== "dispatched") await t.wake(key);
      else await t.run(other, done);
      if (set === "waits" || set === "parked") {
        await t.run(other, done);
        const outcome = set === "waits" ? ({ kind: "done", after: 60_000 } as const) : undefined;
        await t.run(key, outcome ?? { kind: "terminal", error: "no" });
      } else if (set === "dispatched") await t.wake(key);
      await at.redis.del(rest(set));
      if (set === "ready" || set.includes("change")) await t.run(other, done);
      await repairAll();
      await t.dispatched();
      expect(await t.refusal(key, "t")).toBe("claimed");
    },
  );
  it.each(["ready", "parked", "paused"])("a member of %s without an entry runs", async (set) => {
    await at.redis.zadd(rest(set), 1, key);
    expect(await t.ledger.repairSets()).toEqual([`key:${key}`]);
    expect(await t.dispatched()).toEqual([key]);
    await t.run(key, done);
    expect(await t.ledger.count()).toMatchObject({ due: 0, parked: 0, paused: 0 });
  });
  it("members without an entry are found among many keys", async () => {
    const [dispatched, ...ready] = keysIn("a", 120) as [ObjectKey, ...ObjectKey[]];
    for (const one of [dispatched, ...ready]) await t.wake(one);
    await t.run(dispatched, { kind: "retry", error: "no" });
    const strays = keysIn("b", 240);
    for (const [i, one] of strays.entries()) {
      await at.redis.zadd(rest("ready"), i % 2 ? 1 : t.clock + 1, one);
      await at.redis.zadd(rest("failing"), i % 2 ? 1 : t.clock + 1, one);
    }
    for (let second = 0; second < 12; second++) {
      t.clock += 1_000;
      await t.ledger.repairSets();
    }
    expect((await t.list("failing")).map((report) => report.key)).toEqual([dispatched]);
    await t.registerWorker({ slots: 400 });
    expect(new Set(await t.dispatched())).toEqual(new Set([...ready.slice(1), ...strays, dispatched]));
  });
  it("a key that stands in two sets stands in one, and is put right once", async () => {
    await t.wakeAndRun(key, { kind: "terminal", error: "no" });
    await at.redis.zadd(rest("waits"), t.clock + 60_000, key);
    expect(await repairAll()).toEqual([`key:${key}`]);
    expect(await repairAll()).toEqual([]);
    expect(await t.ledger.count()).toMatchObject({ due: 1, parked: 0, scheduled: 0 });
  });
  it("a lease that was removed is taken back when it ends", async () => {
    await t.wakeAndClaim(key, "t");
    await at.redis.zrem(rest("leases"), key);
    await at.redis.hdel(rest(`key:${key}`), "state");
    t.clock += lease - 1;
    await repairAll();
    expect(await t.refusal(key)).toBe("leased");
    t.clock += 1;
    expect(await t.dispatched()).toEqual([key]);
  });
  it("keys that fail are listed again, and none that does not", async () => {
    await t.wakeAndRun(other, { kind: "retry", error: "no" });
    await t.wakeAndRun(key, done);
    await at.redis.del(rest("failing"));
    await at.redis.zadd(rest("failing"), 1, key);
    await repairAll();
    expect((await t.list("failing")).map((report) => report.key)).toEqual([other]);
  });
  it("a key that was put right is read live: what is kept of its object may be changed, too", async () => {
    const observed = { kind: "buckets", uid: "u1", resourceVersion: "1" };
    await t.wakeAndRun(key, { kind: "done", observed }, { uid: "u1", resourceVersion: "1" });
    await t.wake(key, { uid: "u1", resourceVersion: "2", cachedObject: "{}" });
    await at.redis.del(rest("dispatched"));
    await repairAll();
    await t.dispatched();
    expect((await t.claim(key)).cachedObject).toBeUndefined();
  });
  it("a paused key that was taken out of its set is found again, and one whose pause was lost runs", async () => {
    await t.ledger.pause({ kind: "object", key }, "tests");
    await t.wake(key);
    await at.redis.del(rest("paused"));
    await repairAll();
    expect(await t.list("paused")).toMatchObject([{ key }]);
    await at.redis.del(rest("pauses"));
    await repairAll();
    await t.dispatched();
    expect(await t.refusal(key, "t")).toBe("claimed");
  });
  it.each([
    "control",
    "waits",
    "ready",
    "dispatched",
    "leases",
    "parked",
    "throttled",
    "paused",
    "pauses",
    "limits",
    "workers",
  ])("%s of another type is put aside, and its keys run", async (set) => {
    await t.wake(key);
    await at.redis.set(rest(set), "garbage");
    await repairAll().catch(() => undefined);
    await repairAll();
    t.clock += recoveryWindow;
    await t.dispatched();
    expect(await t.refusal(key, "t")).toBe("claimed");
    expect(await at.redis.get(rest(`quarantine:${set}`))).toBe("garbage");
  });
  it.each([
    "control",
    "waits",
    "ready",
    "dispatched",
    "leases",
    "throttled",
    "advertised",
    "advertisements",
    "assigned",
  ])("%s of another type is put aside also by the server that takes over, and its keys run", async (set) => {
    await t.wake(key);
    await at.redis.del(rest(set));
    await at.redis.set(rest(set), "garbage");
    t.server = "another";
    await t.ledger.dispatch();
    await repairAll();
    t.clock += recoveryWindow;
    await t.dispatched();
    expect(await t.refusal(key, "t")).toBe("claimed");
  });
  it("deltas of another type are put aside, and a run that comes reads live", async () => {
    const observed = { kind: "buckets", uid: "u1", resourceVersion: "1", cachedLists: "[]" };
    await t.wakeAndRun(key, { kind: "done", observed }, { uid: "u1", resourceVersion: "1" });
    await t.wake(key, { kind: "pods", delta: "pod" });
    await at.redis.set(rest(`deltas:${key}`), "garbage");
    const claim = await t.claim(key);
    expect([claim.fails, claim.cachedLists]).toEqual([0, undefined]);
  });
  it.each(["garbage", ""])(
    "a key's entry of another type is put aside, and the key runs: %j",
    async (text) => {
      await t.wake(other);
      await at.redis.set(rest(`key:${key}`), text);
      await t.wake(key);
      await t.run(other, done);
      expect(await t.refusal(key, "t")).toBe("claimed");
    },
  );
  it("an entry whose fields are garbage does not stop its key", async () => {
    await t.wake(key);
    const fields = [
      "state",
      "wakes",
      "fails",
      "notBefore",
      "wokenFor",
      "until",
      "reasons",
      "version:buckets",
      "class",
      "job",
    ];
    for (const field of fields) {
      await at.redis.hset(rest(`key:${key}`), field, "{garbage");
      await t.wake(key);
      await repairAll();
      await t.dispatched();
      expect([field, await t.refusal(key, `t ${field}`)]).toEqual([field, "claimed"]);
      await t.ledger.settle(key, `t ${field}`, done);
      await t.wake(key);
    }
  });
  it.each([
    "wait",
    "active",
    "marker",
    "meta",
    "events",
    "stalled",
    "failed",
    "id",
    "de:0",
    "0123456789abcdef-7",
  ])("%s of BullMQ's of another type is put aside: jobs are added again", async (name) => {
    const wrong = rest(`jobs:${name}`);
    await (["id", "de:0"].includes(name) ? at.redis.rpush(wrong, "garbage") : at.redis.set(wrong, "garbage"));
    expect(await repairAll()).toEqual([`jobs:${name}`]);
    expect(await at.redis.exists(wrong)).toBe(0);
    expect(await at.redis.exists(rest(`quarantine:jobs:${name}`))).toBe(1);
    expect(await repairAll()).toEqual([]);
  });
  it("a counter of BullMQ's that counts no more is put aside", async () => {
    await at.redis.set(rest("jobs:id"), "{garbage");
    expect(await repairAll()).toEqual(["jobs:id"]);
    await at.redis.set(rest("jobs:id"), "7");
    expect(await repairAll()).toEqual([]);
  });
  it.each(["flows:change", "throttled"])("a word in %s that is no flow holds nobody up", async (set) => {
    await t.wake(other);
    await t.wake(key);
    for (const garbage of ["{garbage", "a:b", "a/b", "x:a/b"]) await at.redis.zadd(rest(set), 0, garbage);
    await t.run(other, done);
    await t.dispatched();
    expect(await t.refusal(key, "t")).toBe("claimed");
  });
  it("limits that are garbage hold nobody up", async () => {
    await t.registerWorker({ runs: { perSecond: 1, burst: 1 } });
    for (const field of await at.redis.hkeys(rest("limits"))) {
      await at.redis.hset(rest("limits"), field, "{garbage");
    }
    expect(await t.wake(key)).toEqual([key]);
  });
  it("a ledger that lost some of its own fields goes on, as a new one where it lost its mark", async () => {
    await t.wake(other);
    for (const field of await at.redis.hkeys(rest("control"))) {
      const before = t.incarnations.length;
      await at.redis.hdel(rest("control"), field);
      await t.wake(key);
      expect([field, t.incarnations.length - before]).toEqual([
        field,
        Number(["incarnation", "server"].includes(field)),
      ]);
      await t.registerWorker({ slots: 2 });
      t.clock += recoveryWindow;
      await t.dispatched();
      expect([field, await t.refusal(key, `t ${field}`)]).toEqual([field, "claimed"]);
      await t.ledger.settle(key, `t ${field}`, done);
    }
  });
  it("a history of another type does not stop an outcome", async () => {
    await at.redis.set(rest(`history:${key}`), "garbage");
    expect((await t.ledger.inspect(key)).runs).toHaveLength(0);
    await at.redis.set(rest(`history:${key}`), "garbage");
    await t.wakeAndClaim(key, "t");
    const past = { trigger: [], duration: 1, verdict: "done" } as const;
    await t.ledger.settle(key, "t", done, past);
    expect((await t.ledger.inspect(key)).runs).toMatchObject([past]);
  });
  it("a member that is no object's key is assigned to no worker, also while it cannot be taken out", async () => {
    const assigned: ObjectKey[] = [];
    const subscription = t.ledger.receiveAssignments("w1", (one) => void assigned.push(one.key));
    await subscription.caughtUp();
    const entry = (member: string) => ["1", "t", "0", member, "{}", "", ""];
    const give = async (member: string) => {
      await at.redis.publish(rest("worker:w1"), [...entry(member), ...entry(key)].join("\n"));
      await subscription.caughtUp();
    };
    await give("a/b/c");
    expect(assigned).toEqual([key]);
    await expect.poll(() => at.redis.exists(rest("quarantine:member:a/b/c"))).toBe(1);
    await at.redis.hset(rest("control"), "schema", 99); // every script refuses it
    await give("d/e/f");
    expect(assigned).toEqual([key, key]);
    await expect(t.wake(key)).rejects.toThrow(/SCHEMA 99/);
    expect(await at.redis.exists(rest("quarantine:member:d/e/f"))).toBe(0);
    subscription.stop();
  });
  it("a member that is no object's key is taken out and listed, and holds nobody up", async () => {
    await t.registerWorker({ slots: 10 });
    await at.redis.zadd(rest("waits"), 1, "a/b/c");
    await at.redis.zadd(rest("waits"), 1, "");
    expect(await t.wake(key)).toEqual([key]);
    expect(await at.redis.exists(rest("quarantine:member:a/b/c"))).toBe(1);
    expect(await t.ledger.count()).toMatchObject({ due: 1 });
  });
});
