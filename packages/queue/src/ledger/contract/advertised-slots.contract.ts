import { objectKey, type ObjectKey } from "@drover/controller";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LeasedKey, ChannelSubscription, IdleSlots, SlotRequest } from "../ledger.ts";
import {
  done,
  failed,
  key,
  keysIn,
  lease,
  type LedgerUnderTest,
  recoveryWindow,
} from "./ledger-under-test.ts";

/** The assignment of keys to advertised slots. There is one worker with two slots, and none is advertised. */
export function advertisedSlotsContract(t: LedgerUnderTest): void {
  const [first, second, third] = keysIn("a", 3) as [ObjectKey, ObjectKey, ObjectKey];
  let received: LeasedKey[];
  let subscription: ChannelSubscription;
  const slots = (...tokens: string[]): IdleSlots => ({ worker: "w1", askedAt: 5, version: 0, tokens });
  /** The keys that were assigned since the last call. */
  const assignments = async (): Promise<readonly LeasedKey[]> => {
    await subscription.caughtUp();
    return received.splice(0);
  };
  const assignedKeys = async (): Promise<readonly string[]> =>
    (await assignments()).map((each) => `${each.slot} ${each.key}`);

  beforeEach(async () => {
    await t.registerWorker({ slots: 2 });
    received = [];
    subscription = t.ledger.receiveAssignments("w1", (each) => void received.push(each));
    await subscription.caughtUp();
  });
  afterEach(() => subscription.stop());

  describe("a key whose turn it is", () => {
    it("is assigned to an idle slot as if it had claimed it, and no job is added", async () => {
      await t.ledger.advertise(slots("t1"));
      expect(await t.wake(key, { reason: "Added", class: "listing", uid: "u1", trace: "00-1" })).toEqual([]);
      const [found] = (await assignments()) as [LeasedKey];
      expect(found).toMatchObject({
        slot: "t1",
        askedAt: 5,
        key,
        claim: { fails: 0, reasons: ["Added"], class: "listing", uid: "u1", trace: "00-1" },
      });
      expect(await t.refusal(key)).toBe("leased");
      expect(await t.ledger.claim(key, found.token, 0, 6)).toEqual({
        claimed: { ...found, slot: found.token, askedAt: 6, arrival: "dequeued" },
      });
      expect((await t.ledger.renew([found])).lost).toEqual([]);
      expect(await t.ledger.settle(key, found.token, done)).toMatchObject({ kind: "settled" });
      expect(await t.refusal(key)).toBe("nothing due");
    });
    it("is leased for one lease from then on", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.wake(key);
      t.clock += lease;
      expect(await t.dispatched()).toEqual([key]);
    });
    it("comes with the object that its wake brought", async () => {
      const observed = { kind: "buckets", uid: "u1", resourceVersion: "200" };
      await t.wakeAndRun(key, { kind: "done", observed }, { uid: "u1" });
      await t.ledger.advertise(slots("t1"));
      await t.wake(key, { uid: "u1", resourceVersion: "201", cachedObject: '{"a":"\\n"}' });
      expect(await assignments()).toMatchObject([{ claim: { cachedObject: '{"a":"\\n"}' } }]);
    });
    it("may be one whose job no worker has taken", async () => {
      await t.wake(key);
      t.clock += 199;
      await t.ledger.advertise(slots("t1"));
      expect(await assignedKeys()).toEqual([]);
      t.clock += 1;
      await t.ledger.advertise(slots("t1"));
      expect(await assignedKeys()).toEqual([`t1 ${key}`]);
      expect(await t.refusal(key)).toBe("leased"); // as its job claims it
    });
    it("may be due by a timer, or by somebody else's outcome", async () => {
      await t.wakeAndRun(key, { kind: "done", after: 500 });
      await t.ledger.advertise(slots("t1"));
      t.clock += 500;
      expect(await t.dispatched()).toEqual([]);
      const [found] = (await assignments()) as [LeasedKey];
      expect(found).toMatchObject({ slot: "t1", key });
      await t.ledger.advertise(slots("t2"));
      await t.ledger.settle(key, found.token, { kind: "interrupted" });
      expect(await assignedKeys()).toEqual([`t2 ${key}`]);
    });
    it("gets a job if no slot is idle", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.wake(first);
      expect(await t.wake(second)).toEqual([second]);
      expect(await assignedKeys()).toEqual([`t1 ${first}`]);
    });
    it("is assigned to the one of many slots that was advertised last", async () => {
      await t.ledger.advertise(slots("t1"));
      t.clock += 1;
      await t.ledger.advertise({ ...slots("t2"), worker: "w2" });
      t.clock += 1;
      await t.ledger.advertise(slots("t3"));
      await t.wake(first);
      await t.wake(second);
      expect(await assignedKeys()).toEqual([`t3 ${first}`]);
      expect(await t.ledger.advertise({ ...slots("t2"), worker: "w2" })).toMatchObject([{ key: second }]);
    });
    it("comes after those that are ready for longer", async () => {
      await t.registerWorker({ slots: 1 });
      expect(await t.wake(first)).toEqual([first]);
      expect(await t.wake(second)).toEqual([]);
      await t.registerWorker({ slots: 3 });
      await t.ledger.advertise(slots("t1"));
      expect(await t.wake(third)).toEqual([third]);
      expect(await assignedKeys()).toEqual([`t1 ${second}`]);
    });
    it("comes after those whose timer is over", async () => {
      await t.wakeAndRun(first, { kind: "wait", after: 500 });
      await t.ledger.advertise(slots("t1"));
      t.clock += 501;
      expect(await t.wake(second)).toEqual([second]);
      expect(await assignedKeys()).toEqual([`t1 ${first}`]);
    });
    it("waits while as many run as there are slots, whoever advertises one more", async () => {
      await t.wakeAndClaim(first, "t1");
      await t.registerWorker({ slots: 1 });
      await t.ledger.advertise(slots("t2"));
      expect(await t.wake(second)).toEqual([]);
      expect(await assignedKeys()).toEqual([]);
    });
    it("counts as a job, of eight of which one looks for a resync first", async () => {
      await t.registerWorker({ slots: 16 });
      await t.ledger.pause({ kind: "controller" }, "tests");
      for (const each of keysIn("a", 8)) await t.wake(each);
      for (const each of keysIn("b", 2)) await t.wake(each, { class: "resync" });
      await t.ledger.advertise(slots(...Array.from({ length: 10 }, (_, i) => `t${i}`)));
      await t.ledger.resume({ kind: "controller" });
      expect((await assignments()).map((each) => each.key.slice(0, 1)).join("")).toBe("baaaaaaaba");
    });
  });

  describe("a slot", () => {
    it("is advertised by the outcome of its run, where nothing is due", async () => {
      await t.wakeAndClaim(first, "t1");
      const next: SlotRequest = { token: "t2", version: 0, worker: "w1", askedAt: 7 };
      expect(await t.ledger.settle(first, "t1", done, undefined, next)).not.toHaveProperty("chained.key");
      await t.wake(second);
      expect(await assignments()).toMatchObject([{ slot: "t2", askedAt: 7, key: second }]);
    });
    it("is not advertised by an outcome that a key was chained to", async () => {
      await t.registerWorker({ slots: 1 });
      await t.wakeAndClaim(first, "t1");
      await t.wake(second);
      const next: SlotRequest = { token: "t2", version: 0, worker: "w1", askedAt: 7 };
      expect(await t.ledger.settle(first, "t1", done, undefined, next)).toMatchObject({
        chained: { key: second },
      });
      await t.registerWorker({ slots: 2 });
      expect(await t.wake(third)).toEqual([third]);
      expect(await assignments()).toEqual([]);
    });
    it("is not advertised where its worker names nobody who hears", async () => {
      await t.wakeAndClaim(first, "t1");
      await t.ledger.settle(first, "t1", done, undefined, { token: "t2", version: 0 });
      expect(await t.wake(second)).toEqual([second]);
    });
    it("is assigned one key", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.wake(first);
      const [found] = (await assignments()) as [LeasedKey];
      await t.ledger.settle(first, found.token, done);
      expect(await t.wake(second)).toEqual([second]);
      expect(await assignments()).toEqual([]);
    });
    it("that is advertised again, by a call that came late, is assigned a key under another token", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.wake(first);
      const [before] = (await assignments()) as [LeasedKey];
      t.clock += lease;
      await t.dispatched();
      await t.ledger.advertise(slots("t1"));
      await t.wake(second);
      const [after] = (await assignments()) as [LeasedKey];
      expect(after).toMatchObject({ slot: "t1", key: second });
      expect(await t.ledger.settle(first, before.token, done)).toEqual({ kind: "stale" });
      expect((await t.ledger.renew([before, { ...before, key: second }, after])).lost).toEqual([
        before.token,
        before.token,
      ]);
      expect(await t.ledger.settle(second, before.token, done)).toEqual({ kind: "stale" });
      await t.ledger.settle(second, after.token, done);
      await t.ledger.advertise(slots("t1")); // in the same ms
      await t.wake(second);
      const [again] = (await assignments()) as [LeasedKey];
      expect(again).toMatchObject({ slot: "t1", key: second });
      expect(again.token).not.toBe(after.token);
    });
    it("is assigned a key under another token by a server that has lost the assignment, though its clock is late", async () => {
      const failOver = await t.backup();
      const assignedTo = async (key: ObjectKey): Promise<LeasedKey | undefined> => {
        await t.ledger.advertise(slots("t1"));
        await t.wake(key);
        return (await assignments())[0];
      };
      const [at, before] = [t.clock, await assignedTo(first)];
      await failOver();
      await t.ledger.time();
      t.clock += recoveryWindow;
      await t.registerWorker({ slots: 1 });
      t.clock = at;
      const after = await assignedTo(second);
      expect(after).toMatchObject({ slot: "t1", key: second });
      expect(after?.token).not.toBe(before?.token);
    });
    it("is advertised for the length of the recovery window, and for that again when it is advertised again", async () => {
      await t.ledger.advertise(slots("t1"));
      t.clock += recoveryWindow - 1;
      await t.ledger.advertise({ ...slots("t1"), askedAt: 6 });
      t.clock += recoveryWindow - 1;
      await t.wake(first);
      expect(await assignments()).toMatchObject([{ slot: "t1", askedAt: 6, key: first }]);
      await t.ledger.advertise(slots("t2"));
      t.clock += recoveryWindow;
      expect(await t.wake(second)).toEqual([second]);
    });
    it("that was advertised by a clock that has gone back expires", async () => {
      await t.ledger.advertise(slots("t1"));
      t.clock -= 1;
      expect(await t.wake(first)).toEqual([first]);
    });
    it("is retracted", async () => {
      await t.ledger.advertise(slots("t1", "t2"));
      expect(await t.ledger.retract(slots("t2"))).toEqual([]);
      await t.wake(first);
      expect(await t.wake(second)).toEqual([second]);
      expect(await assignedKeys()).toEqual([`t1 ${first}`]);
    });
    it("is retracted by a claim under its token", async () => {
      await t.wake(first);
      await t.ledger.advertise(slots("t1"));
      await t.claim(first, "t1");
      expect(await t.wake(second)).toEqual([second]);
      expect(await assignments()).toEqual([]);
    });
    it("that was assigned one key claims none, and other jobs can still be processed", async () => {
      await t.wake(first);
      await t.ledger.advertise(slots("t1"));
      await t.wake(second);
      expect(await t.refusal(first, "t1")).toBe("slot taken");
      expect(await t.refusal(second, "t1")).toBe("slot taken");
      expect(await assignedKeys()).toEqual([`t1 ${second}`]);
      expect(await t.refusal(first, "t2")).toBe("claimed");
    });
    it("of an older function than one that is here is not used", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.registerWorker({ worker: "new", version: 2 });
      expect(await t.wake(first)).toEqual([first]);
      await t.ledger.advertise(slots("t2"));
      expect(await t.wake(second)).toEqual([second]);
      await t.ledger.advertise({ ...slots("t3"), version: 2 });
      await t.wake(third);
      expect(await assignedKeys()).toEqual([`t3 ${third}`]);
    });
  });

  describe("an assigned key", () => {
    it("is answered when the slot is advertised again, for who has not heard of it, and is not advertised", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.wake(first);
      expect(await t.ledger.advertise(slots("t1"))).toEqual(await assignments());
      expect(await t.wake(second)).toEqual([second]);
    });
    it("is answered when the slot is retracted", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.wake(first);
      expect(await t.ledger.retract(slots("t1"))).toEqual(await assignments());
    });
    it("is answered no more once it was settled, or its lease has ended", async () => {
      await t.ledger.advertise(slots("t1", "t2"));
      await t.wake(first);
      await t.wake(second);
      const [one, other] = await assignments();
      await t.ledger.settle(one!.key, one!.token, done);
      t.clock += lease;
      expect(await t.ledger.advertise(slots("t1", "t2"))).toEqual([]);
      expect(other).toBeDefined();
    });
    it("is due at once when it is given back, and nothing is counted", async () => {
      await t.ledger.advertise(slots("t1"));
      await t.wake(first);
      const [found] = (await assignments()) as [LeasedKey];
      expect(await t.ledger.settle(first, found.token, { kind: "interrupted" })).toMatchObject({
        jobs: [{ key: first }],
      });
      expect(await t.inspect(first)).toMatchObject({ fails: 0 });
    });
  });

  describe("nothing is assigned", () => {
    beforeEach(async () => {
      await t.ledger.advertise(slots("t1"));
    });
    it("of what is paused: the controller, a namespace, an object", async () => {
      await t.ledger.pause({ kind: "object", key: first }, "tests");
      await t.ledger.pause({ kind: "namespace", namespace: "b" }, "tests");
      await t.wake(first);
      await t.wake(objectKey({ namespace: "b", name: "x" }));
      await t.ledger.pause({ kind: "controller" }, "tests");
      await t.wake(second);
      expect(await assignments()).toEqual([]);
      await t.ledger.resume({ kind: "controller" });
      expect(await assignedKeys()).toEqual([`t1 ${second}`]);
    });
    it("of an account that is closed", async () => {
      await t.wake(first);
      const [found] = (await assignments()) as [LeasedKey];
      await t.ledger.settle(first, found.token, { kind: "throttled", account: "aws", after: 500 });
      await t.ledger.advertise(slots("t2"));
      await t.wake(first);
      expect(await assignments()).toEqual([]);
      t.clock += 500;
      await t.dispatched();
      expect(await assignedKeys()).toEqual([`t2 ${first}`]);
    });
    it("of an account that was closed after the job was added", async () => {
      await t.ledger.retract(slots("t1"));
      for (const each of [first, second]) await t.wake(each);
      await t.run(first, { kind: "done", account: "aws" });
      await t.wake(first);
      await t.run(second, { kind: "throttled", account: "aws", after: 5_000 });
      t.clock += 1_000; // its job is unused
      await t.ledger.advertise(slots("t2"));
      expect(await assignments()).toEqual([]);
      expect((await t.inspect(first)).state).not.toBe("leased");
    });
    it("beyond a rate", async () => {
      await t.registerWorker({ slots: 2, runs: { perSecond: 10, burst: 1 } });
      await t.ledger.advertise(slots("t1", "t2"));
      await t.wake(first);
      await t.wake(second);
      expect(await assignments()).toHaveLength(1);
      t.clock += 100;
      await t.dispatched();
      expect(await assignments()).toHaveLength(1);
    });
    it("within a window of backoff", async () => {
      await t.wake(first);
      const [found] = (await assignments()) as [LeasedKey];
      await t.ledger.settle(first, found.token, failed);
      await t.ledger.advertise(slots("t2"));
      expect(await t.dispatched()).toEqual([]);
      expect(await assignments()).toEqual([]);
    });
    it("on another server, which knows of no advertised slot until it is advertised again", async () => {
      t.server = "another";
      t.clock -= recoveryWindow / 2; // its clock is behind
      await t.wake(first);
      t.clock += recoveryWindow;
      expect(await t.dispatched()).toEqual([first]);
      await t.ledger.advertise(slots("t1"));
      await t.wake(second);
      expect(await assignedKeys()).toEqual([`t1 ${second}`]);
    });
  });
}
