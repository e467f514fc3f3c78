import { objectKey, type ObjectKey } from "@drover/controller";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Given, Listening, Offers, Taker } from "../ledger.ts";
import { done, failed, key, keysIn, lease, type LedgerUnderTest, settling } from "./ledger-under-test.ts";

/** The assignment of keys to advertised slots. There is one worker with two slots, and none is advertised. */
export function offersContract(t: LedgerUnderTest): void {
  const [first, second, third] = keysIn("a", 3) as [ObjectKey, ObjectKey, ObjectKey];
  let heard: Given[];
  let listening: Listening;
  const slots = (...tokens: string[]): Offers => ({ worker: "w1", askedAt: 5, version: 0, tokens });
  /** The keys that were assigned since the last call. */
  const given = async (): Promise<readonly Given[]> => {
    await listening.caughtUp();
    return heard.splice(0);
  };
  const givenKeys = async (): Promise<readonly string[]> =>
    (await given()).map((each) => `${each.slot} ${each.key}`);

  beforeEach(async () => {
    await t.enlist({ slots: 2 });
    heard = [];
    listening = t.ledger.listen("w1", (each) => void heard.push(each));
    await listening.caughtUp();
  });
  afterEach(() => listening.stop());

  describe("a key whose turn it is", () => {
    it("is given to a free slot as if it had claimed it, and no bell is rung", async () => {
      await t.ledger.offer(slots("t1"));
      expect(await t.wake(key, { reason: "Added", class: "listing", uid: "u1", trace: "00-1" })).toEqual([]);
      const [found] = (await given()) as [Given];
      expect(found).toMatchObject({
        slot: "t1",
        askedAt: 5,
        key,
        claim: { fails: 0, reasons: ["Added"], class: "listing", uid: "u1", trace: "00-1" },
      });
      expect(await t.refusal(key)).toBe("leased");
      expect(await t.ledger.claim(key, found.token)).toEqual({ claimed: found.claim });
      expect((await t.ledger.renew([found])).lost).toEqual([]);
      expect(await t.ledger.settle(key, found.token, done)).toMatchObject({ kind: "settled" });
      expect(await t.refusal(key)).toBe("nothing due");
    });
    it("is leased for one lease from then on", async () => {
      await t.ledger.offer(slots("t1"));
      await t.wake(key);
      t.clock += lease;
      expect(await t.rung()).toEqual([key]);
    });
    it("comes with the copy that its wake brought", async () => {
      const sight = { kind: "buckets", uid: "u1", resourceVersion: "200" };
      await t.wake(key, { uid: "u1" });
      await t.run(key, { kind: "done", saw: sight });
      await t.ledger.offer(slots("t1"));
      await t.wake(key, { uid: "u1", resourceVersion: "201", copy: '{"a":"\\n"}' });
      expect(await given()).toMatchObject([{ claim: { copy: '{"a":"\\n"}' } }]);
    });
    it("may be one whose bell nobody has answered", async () => {
      await t.wake(key);
      t.clock += 199;
      await t.ledger.offer(slots("t1"));
      expect(await givenKeys()).toEqual([]);
      t.clock += 1;
      await t.ledger.offer(slots("t1"));
      expect(await givenKeys()).toEqual([`t1 ${key}`]);
      expect(await t.refusal(key)).toBe("leased"); // as its job claims it
    });
    it("may be due by a timer, or by somebody else's verdict", async () => {
      await t.wake(key);
      await t.run(key, { kind: "done", after: 500 });
      await t.ledger.offer(slots("t1"));
      t.clock += 500;
      expect(await t.rung()).toEqual([]);
      const [found] = (await given()) as [Given];
      expect(found).toMatchObject({ slot: "t1", key });
      await t.ledger.offer(slots("t2"));
      await t.ledger.settle(key, found.token, { kind: "interrupted" });
      expect(await givenKeys()).toEqual([`t2 ${key}`]);
    });
    it("is rung for where no slot is free", async () => {
      await t.ledger.offer(slots("t1"));
      await t.wake(first);
      expect(await t.wake(second)).toEqual([second]);
      expect(await givenKeys()).toEqual([`t1 ${first}`]);
    });
    it("is given to the one of many slots that was offered last", async () => {
      await t.ledger.offer(slots("t1"));
      t.clock += 1;
      await t.ledger.offer({ ...slots("t2"), worker: "w2" });
      t.clock += 1;
      await t.ledger.offer(slots("t3"));
      await t.wake(first);
      await t.wake(second);
      expect(await givenKeys()).toEqual([`t3 ${first}`]);
      expect(await t.ledger.offer({ ...slots("t2"), worker: "w2" })).toMatchObject([{ key: second }]);
    });
    it("comes after those that are ready for longer", async () => {
      await t.enlist({ slots: 1 });
      expect(await t.wake(first)).toEqual([first]);
      expect(await t.wake(second)).toEqual([]);
      await t.enlist({ slots: 3 });
      await t.ledger.offer(slots("t1"));
      expect(await t.wake(third)).toEqual([third]);
      expect(await givenKeys()).toEqual([`t1 ${second}`]);
    });
    it("comes after those whose timer is over", async () => {
      await t.wake(first);
      await t.run(first, { kind: "wait", after: 500 });
      await t.ledger.offer(slots("t1"));
      t.clock += 501;
      expect(await t.wake(second)).toEqual([second]);
      expect(await givenKeys()).toEqual([`t1 ${first}`]);
    });
    it("waits while as many run as there are slots, whoever offers one more", async () => {
      await t.wake(first);
      await t.claim(first, "t1");
      await t.enlist({ slots: 1 });
      await t.ledger.offer(slots("t2"));
      expect(await t.wake(second)).toEqual([]);
      expect(await givenKeys()).toEqual([]);
    });
    it("counts as a bell, of eight of which one looks for a resync first", async () => {
      await t.enlist({ slots: 16 });
      await t.ledger.pause({ kind: "controller" }, "tests");
      for (const each of keysIn("a", 8)) await t.wake(each);
      for (const each of keysIn("b", 2)) await t.wake(each, { class: "resync" });
      await t.ledger.offer(slots(...Array.from({ length: 10 }, (_, i) => `t${i}`)));
      await t.ledger.resume({ kind: "controller" });
      expect((await given()).map((each) => each.key.slice(0, 1)).join("")).toBe("baaaaaaaba");
    });
  });

  describe("a slot", () => {
    it("is offered by the verdict of its run, where nothing is due", async () => {
      await t.wake(first);
      await t.claim(first, "t1");
      const next: Taker = { token: "t2", version: 0, offeredBy: { worker: "w1", askedAt: 7 } };
      expect(await t.ledger.settle(first, "t1", done, undefined, next)).not.toHaveProperty("handed.key");
      await t.wake(second);
      expect(await given()).toMatchObject([{ slot: "t2", askedAt: 7, key: second }]);
    });
    it("is not offered by a verdict that was handed a key", async () => {
      await t.enlist({ slots: 1 });
      await t.wake(first);
      await t.claim(first, "t1");
      await t.wake(second);
      const next: Taker = { token: "t2", version: 0, offeredBy: { worker: "w1", askedAt: 7 } };
      expect(await t.ledger.settle(first, "t1", done, undefined, next)).toMatchObject({
        handed: { key: second },
      });
      await t.enlist({ slots: 2 });
      expect(await t.wake(third)).toEqual([third]);
      expect(await given()).toEqual([]);
    });
    it("is not offered where its worker names nobody who hears", async () => {
      await t.wake(first);
      await t.claim(first, "t1");
      await t.ledger.settle(first, "t1", done, undefined, { token: "t2", version: 0 });
      expect(await t.wake(second)).toEqual([second]);
    });
    it("is given one key", async () => {
      await t.ledger.offer(slots("t1"));
      await t.wake(first);
      const [found] = (await given()) as [Given];
      await t.ledger.settle(first, found.token, done);
      expect(await t.wake(second)).toEqual([second]);
      expect(await given()).toEqual([]);
    });
    it("that is offered anew, by a call that came late, is given a key under another token", async () => {
      await t.ledger.offer(slots("t1"));
      await t.wake(first);
      const [before] = (await given()) as [Given];
      t.clock += lease;
      await t.rung();
      await t.ledger.offer(slots("t1"));
      await t.wake(second);
      const [after] = (await given()) as [Given];
      expect(after).toMatchObject({ slot: "t1", key: second });
      expect(await t.ledger.settle(first, before.token, done)).toEqual({ kind: "stale" });
      expect((await t.ledger.renew([before, { ...before, key: second }, after])).lost).toEqual([
        before.token,
        before.token,
      ]);
      expect(await t.ledger.settle(second, before.token, done)).toEqual({ kind: "stale" });
      await t.ledger.settle(second, after.token, done);
      await t.ledger.offer(slots("t1")); // in the same ms
      await t.wake(second);
      const [again] = (await given()) as [Given];
      expect(again).toMatchObject({ slot: "t1", key: second });
      expect(again.token).not.toBe(after.token);
    });
    it("stands as long as a server settles, and so long again when it is offered again", async () => {
      await t.ledger.offer(slots("t1"));
      t.clock += settling - 1;
      await t.ledger.offer({ ...slots("t1"), askedAt: 6 });
      t.clock += settling - 1;
      await t.wake(first);
      expect(await given()).toMatchObject([{ slot: "t1", askedAt: 6, key: first }]);
      await t.ledger.offer(slots("t2"));
      t.clock += settling;
      expect(await t.wake(second)).toEqual([second]);
    });
    it("that was offered by a clock that has gone back stands no more", async () => {
      await t.ledger.offer(slots("t1"));
      t.clock -= 1;
      expect(await t.wake(first)).toEqual([first]);
    });
    it("is withdrawn", async () => {
      await t.ledger.offer(slots("t1", "t2"));
      expect(await t.ledger.withdraw(slots("t2"))).toEqual([]);
      await t.wake(first);
      expect(await t.wake(second)).toEqual([second]);
      expect(await givenKeys()).toEqual([`t1 ${first}`]);
    });
    it("is withdrawn by a claim under its token", async () => {
      await t.wake(first);
      await t.ledger.offer(slots("t1"));
      await t.claim(first, "t1");
      expect(await t.wake(second)).toEqual([second]);
      expect(await given()).toEqual([]);
    });
    it("that was given one key claims none, and others' bells can be answered still", async () => {
      await t.wake(first);
      await t.ledger.offer(slots("t1"));
      await t.wake(second);
      expect(await t.refusal(first, "t1")).toBe("slot taken");
      expect(await t.refusal(second, "t1")).toBe("slot taken");
      expect(await givenKeys()).toEqual([`t1 ${second}`]);
      expect(await t.refusal(first, "t2")).toBe("claimed");
    });
    it("of an older function than one that is here does not stand", async () => {
      await t.ledger.offer(slots("t1"));
      await t.enlist({ worker: "new", version: 2 });
      expect(await t.wake(first)).toEqual([first]);
      await t.ledger.offer(slots("t2"));
      expect(await t.wake(second)).toEqual([second]);
      await t.ledger.offer({ ...slots("t3"), version: 2 });
      await t.wake(third);
      expect(await givenKeys()).toEqual([`t3 ${third}`]);
    });
  });

  describe("what was given", () => {
    it("is answered when the slot is offered again, for who has not heard of it, and does not stand", async () => {
      await t.ledger.offer(slots("t1"));
      await t.wake(first);
      expect(await t.ledger.offer(slots("t1"))).toEqual(await given());
      expect(await t.wake(second)).toEqual([second]);
    });
    it("is answered when the slot is withdrawn", async () => {
      await t.ledger.offer(slots("t1"));
      await t.wake(first);
      expect(await t.ledger.withdraw(slots("t1"))).toEqual(await given());
    });
    it("is answered no more once it was settled, or its lease has ended", async () => {
      await t.ledger.offer(slots("t1", "t2"));
      await t.wake(first);
      await t.wake(second);
      const [one, other] = await given();
      await t.ledger.settle(one!.key, one!.token, done);
      t.clock += lease;
      expect(await t.ledger.offer(slots("t1", "t2"))).toEqual([]);
      expect(other).toBeDefined();
    });
    it("is due at once when it is given back, and nothing is counted", async () => {
      await t.ledger.offer(slots("t1"));
      await t.wake(first);
      const [found] = (await given()) as [Given];
      expect(await t.ledger.settle(first, found.token, { kind: "interrupted" })).toMatchObject({
        bells: [{ key: first }],
      });
      expect((await t.ledger.inspect(first)).key).toMatchObject({ fails: 0 });
    });
  });

  describe("nothing is given", () => {
    beforeEach(async () => {
      await t.ledger.offer(slots("t1"));
    });
    it("of what is paused: the controller, a namespace, an object", async () => {
      await t.ledger.pause({ kind: "object", key: first }, "tests");
      await t.ledger.pause({ kind: "namespace", namespace: "b" }, "tests");
      await t.wake(first);
      await t.wake(objectKey({ namespace: "b", name: "x" }));
      await t.ledger.pause({ kind: "controller" }, "tests");
      await t.wake(second);
      expect(await given()).toEqual([]);
      await t.ledger.resume({ kind: "controller" });
      expect(await givenKeys()).toEqual([`t1 ${second}`]);
    });
    it("of an account that is closed", async () => {
      await t.wake(first);
      const [found] = (await given()) as [Given];
      await t.ledger.settle(first, found.token, { kind: "throttled", account: "aws", after: 500 });
      await t.ledger.offer(slots("t2"));
      await t.wake(first);
      expect(await given()).toEqual([]);
      t.clock += 500;
      await t.rung();
      expect(await givenKeys()).toEqual([`t2 ${first}`]);
    });
    it("of an account that was closed after the bell was rung", async () => {
      await t.ledger.withdraw(slots("t1"));
      for (const each of [first, second]) await t.wake(each);
      await t.run(first, { kind: "done", account: "aws" });
      await t.wake(first);
      await t.run(second, { kind: "throttled", account: "aws", after: 5_000 });
      t.clock += 1_000; // its job is unused
      await t.ledger.offer(slots("t2"));
      expect(await given()).toEqual([]);
      expect((await t.ledger.inspect(first)).key.state).not.toBe("leased");
    });
    it("beyond a rate", async () => {
      await t.enlist({ slots: 2, runs: { perSecond: 10, burst: 1 } });
      await t.ledger.offer(slots("t1", "t2"));
      await t.wake(first);
      await t.wake(second);
      expect(await given()).toHaveLength(1);
      t.clock += 100;
      await t.rung();
      expect(await given()).toHaveLength(1);
    });
    it("within a window of backoff", async () => {
      await t.wake(first);
      const [found] = (await given()) as [Given];
      await t.ledger.settle(first, found.token, failed);
      await t.ledger.offer(slots("t2"));
      expect(await t.rung()).toEqual([]);
      expect(await given()).toEqual([]);
    });
    it("on another server, which knows of no offer until it is told again", async () => {
      t.server = "another";
      t.clock -= settling / 2; // its clock is behind
      await t.wake(first);
      t.clock += settling;
      expect(await t.rung()).toEqual([first]);
      await t.ledger.offer(slots("t1"));
      await t.wake(second);
      expect(await givenKeys()).toEqual([`t1 ${second}`]);
    });
  });
}
