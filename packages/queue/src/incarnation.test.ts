import { objectKey, type ObjectKey } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { done, key, keysIn, lease, ledgerUnderTest, settling } from "./redis-ledger.fixture.ts";

const t = ledgerUnderTest();
const refusal = async (of: ObjectKey, token: string) => {
  const answer = await t.ledger.claim(of, token);
  return "refused" in answer ? answer.refused : "claimed";
};
/** The ledger's data as they are now, to be brought back later: a failover whose tail is lost, or an old dump. */
const dump = async () => {
  const names = await t.redis.keys(`${t.prefix}:*`);
  const data = await Promise.all(names.map(async (name) => [name, await t.redis.dumpBuffer(name)] as const));
  return async () => {
    await flush();
    for (const [name, bytes] of data) await t.redis.restore(name, 0, bytes);
    t.server = "another";
  };
};
const flush = async () => {
  await t.redis.del(...(await t.redis.keys(`${t.prefix}:*`)));
};

describe("another server", () => {
  it("is a new era, once; the same server is not", async () => {
    await t.wake(key);
    expect(t.eras).toHaveLength(1);
    t.server = "another";
    await t.wake(key);
    await t.ledger.ring();
    expect(t.eras).toHaveLength(2);
    expect(t.eras[0]).not.toBe(t.eras[1]);
  });
  it("also where it has been before: demoted and promoted again", async () => {
    await t.wake(key);
    for (const server of ["another", "first"]) {
      t.server = server;
      t.clock += 1;
      await t.ledger.ring();
    }
    expect(new Set(t.eras).size).toBe(3);
  });
  it("is noticed by whichever script is the first", async () => {
    await t.wake(key);
    await t.claim(key, "t");
    const scripts = [
      () => t.wake(key),
      () => t.ledger.claim(key, "u"),
      () => t.ledger.renew([]),
      () => t.ledger.settle(key, "u", done),
      () => t.ledger.ring(),
      () => t.ledger.unanswered(0),
      () => t.ledger.ringAgain({ key, number: "0" }),
      () => t.enlist(),
      () => t.ledger.pause({ kind: "object", key }),
      () => t.ledger.count(),
      () => t.ledger.list("ready", 0, 1),
      () => t.ledger.inspect(key),
      () => t.ledger.repair([]),
    ];
    for (const [i, script] of scripts.entries()) {
      t.server = `server ${i}`;
      await script();
      expect(t.eras).toHaveLength(i + 2);
    }
  });
  it("lets nothing be claimed or rung until runs under way had time to announce themselves", async () => {
    await t.wake(key);
    t.server = "another";
    expect(await refusal(key, "t")).toBe("settling");
    expect(await t.wake(objectKey({ name: "other" }))).toEqual([]);
    expect(await t.ledger.ring()).toEqual({ bells: [], next: settling });
    t.clock += settling;
    expect(await t.rung()).toEqual([key]);
  });
  it("rings again what was rung: its bells may be lost", async () => {
    await t.wake(key);
    t.server = "another";
    await t.ledger.ring();
    t.clock += settling;
    expect(await t.rung()).toEqual([key]);
  });
  it("cuts leases to one lease from now, also where its clock is behind", async () => {
    await t.wake(key);
    await t.claim(key, "t");
    t.server = "another";
    t.clock -= 600_000;
    await t.ledger.ring();
    t.clock += lease;
    expect(await t.rung()).toEqual([key]);
  });
});

describe("a server that lost the tail", () => {
  it("hears of a run under way when it renews, and nobody else gets the key", async () => {
    await t.wake(key);
    const restore = await dump();
    await t.claim(key, "t");
    await restore();
    expect(await t.ledger.renew([{ key, token: "t" }])).toEqual([]);
    t.clock += settling;
    expect(await refusal(key, "u")).toBe("leased");
    expect(await t.ledger.settle(key, "t", done)).toMatchObject({ kind: "settled" });
    expect(await t.rung()).toEqual([]); // rung by settle: what was heard since is not known
    expect(await refusal(key, "u")).toBe("claimed");
  });
  it("believes the run that announces itself, not the lease of an older one", async () => {
    await t.wake(key);
    await t.claim(key, "older");
    const restore = await dump();
    await t.ledger.settle(key, "older", done);
    await t.wake(key);
    await t.claim(key, "t");
    await restore();
    expect(await t.ledger.renew([{ key, token: "t" }])).toEqual([]);
    expect(await t.ledger.renew([{ key, token: "older" }])).toEqual(["older"]);
    expect(await t.ledger.settle(key, "older", done)).toEqual({ kind: "stale" });
  });
  it("takes the verdict of a run that it does not know of, and has the key looked at once more", async () => {
    await t.wake(key);
    const restore = await dump();
    await t.claim(key, "t");
    await restore();
    expect(await t.ledger.settle(key, "t", { kind: "done", after: 60_000 })).toMatchObject({
      kind: "settled",
    });
    t.clock += settling;
    expect(await t.rung()).toEqual([key]);
  });
  it("does not take a verdict twice, nor one that comes too late", async () => {
    await t.wake(key);
    const restore = await dump();
    await t.claim(key, "t");
    await restore();
    await t.ledger.settle(key, "t", { kind: "terminal", error: "no" });
    expect(await t.ledger.settle(key, "t", done)).toMatchObject({ kind: "settled", bells: [] });
    t.clock += settling;
    expect(await t.ledger.settle(key, "unknown", done)).toEqual({ kind: "stale" });
  });
  it("refuses a run that announces itself too late", async () => {
    await t.wake(key);
    const restore = await dump();
    await t.claim(key, "t");
    await restore();
    await t.ledger.ring();
    t.clock += settling;
    expect(await t.ledger.renew([{ key, token: "t" }])).toEqual(["t"]);
  });
});

describe("a server whose data are gone", () => {
  it("is a new era though it is the same server", async () => {
    await t.wake(key);
    await flush();
    await t.wake(key);
    expect(t.eras).toHaveLength(2);
  });
  it("hears of the runs under way when they renew", async () => {
    await t.wake(key);
    await t.claim(key, "t");
    await flush();
    expect(await t.ledger.renew([{ key, token: "t" }])).toEqual([]);
    t.clock += settling;
    expect(await refusal(key, "u")).toBe("leased");
  });
});

it("refuses a ledger that a newer Drover wrote, and changes nothing", async () => {
  await t.wake(key);
  await t.redis.hset(`${t.prefix}:control`, "schema", 99);
  await expect(t.wake(key)).rejects.toThrow(/SCHEMA 99/);
});

describe("what somebody else changed", () => {
  const [other] = keysIn("a", 1) as [ObjectKey];
  const rest = (name: string) => `${t.prefix}:${name}`;
  const repairAll = async () => t.ledger.repair(await t.redis.keys(`${t.prefix}:*`));

  it("is left alone where nothing is wrong, in every state", async () => {
    await t.enlist({ slots: 2, accounts: { aws: { perSecond: 1, burst: 1 } } });
    for (const each of keysIn("b", 5)) await t.wake(each);
    await t.run(keysIn("b", 5)[0]!, { kind: "terminal", error: "no" });
    await t.run(keysIn("b", 5)[1]!, { kind: "done", after: 5_000, account: "aws" });
    await t.claim(keysIn("b", 5)[2]!);
    await t.ledger.pause({ kind: "object", key });
    await t.wake(key);
    await t.wake(other);
    await t.run(keysIn("b", 5)[3]!, { kind: "throttled", account: "aws", after: 5_000 });
    await t.ledger.ring();
    await t.run(keysIn("b", 5)[4]!, { kind: "gone" });
    const before = await t.ledger.count();
    expect(await repairAll()).toEqual([]);
    expect(await t.ledger.count()).toEqual(before);
  });
  it.each(["waits", "ready", "rung", "parked", "queue:change:default/", "turns:change"])(
    "%s removed: every key that stood there runs",
    async (set) => {
      await t.enlist({ slots: 1 });
      await t.wake(other);
      if (set !== "rung") await t.wake(key);
      else await t.run(other, done);
      if (set === "waits" || set === "parked") {
        await t.run(other, done);
        const verdict = set === "waits" ? ({ kind: "done", after: 60_000 } as const) : undefined;
        await t.run(key, verdict ?? { kind: "terminal", error: "no" });
      } else if (set === "rung") await t.wake(key);
      await t.redis.del(rest(set));
      if (set === "ready" || set.includes("change")) await t.run(other, done);
      await repairAll();
      await t.rung();
      expect(await refusal(key, "t")).toBe("claimed");
    },
  );
  it.each(["control", "waits", "ready", "rung", "leases", "parked", "shut", "paused", "limits", "workers"])(
    "%s of another type is put aside, and its keys run",
    async (set) => {
      await t.wake(key);
      await t.redis.set(rest(set), "garbage");
      await repairAll().catch(() => undefined);
      await repairAll();
      t.clock += settling;
      await t.rung();
      expect(await refusal(key, "t")).toBe("claimed");
      expect(await t.redis.get(rest(`quarantine:${set}`))).toBe("garbage");
    },
  );
  it.each(["garbage", ""])(
    "a key's entry of another type is put aside, and the key runs: %j",
    async (text) => {
      await t.wake(other);
      await t.redis.set(rest(`key:${key}`), text);
      await t.wake(key);
      await t.run(other, done);
      expect(await refusal(key, "t")).toBe("claimed");
    },
  );
  it("an entry whose fields are garbage does not stop its key", async () => {
    await t.wake(key);
    const fields = [
      "state",
      "wakes",
      "fails",
      "notBefore",
      "until",
      "reasons",
      "version:buckets",
      "class",
      "bell",
    ];
    for (const field of fields) {
      await t.redis.hset(rest(`key:${key}`), field, "{garbage");
      await t.wake(key);
      await repairAll();
      await t.rung();
      expect([field, await refusal(key, `t ${field}`)]).toEqual([field, "claimed"]);
      await t.ledger.settle(key, `t ${field}`, done);
      await t.wake(key);
    }
  });
  it("a history of another type does not stop a verdict", async () => {
    await t.redis.set(rest(`history:${key}`), "garbage");
    expect((await t.ledger.inspect(key)).runs).toHaveLength(0);
    await t.redis.set(rest(`history:${key}`), "garbage");
    await t.wake(key);
    await t.claim(key, "t");
    const past = { at: "2026-01-01T00:00:00Z", trigger: [], duration: 1, verdict: "done" } as const;
    await t.ledger.settle(key, "t", done, past);
    expect((await t.ledger.inspect(key)).runs).toEqual([past]);
  });
  it("a member that is no object's key is taken out and listed, and holds nobody up", async () => {
    await t.enlist({ slots: 10 });
    await t.redis.zadd(rest("waits"), 1, "a/b/c");
    await t.redis.zadd(rest("waits"), 1, "");
    expect(await t.wake(key)).toEqual([key]);
    expect(await t.redis.exists(rest("quarantine:member:a/b/c"))).toBe(1);
    expect(await t.ledger.count()).toMatchObject({ due: 1 });
  });
});
