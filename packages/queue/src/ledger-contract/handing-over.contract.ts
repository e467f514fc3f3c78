import { objectKey, type ObjectKey } from "@drover/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { bellOverlooked, type SettleAnswer, type Taker } from "../ledger.ts";
import type { Verdict } from "../work-queue.ts";
import { done, key, keysIn, lease, type LedgerUnderTest, settling } from "./ledger-under-test.ts";

/**
 * The keys that are chained to a run when its worker settles it. There is one slot, which runs `key`, and one
 * dispatched key.
 */
export function handingOverContract(t: LedgerUnderTest): void {
  const rung = objectKey({ namespace: "rung", name: "before" });
  const [first, second] = keysIn("a", 2) as [ObjectKey, ObjectKey];
  const next: Taker = { token: "next", version: 0 };
  type Settled = SettleAnswer & { readonly kind: "settled" };
  /** Settles the run of `key` for a worker that asks for another key. */
  const settle = async (verdict: Verdict = done, taker = next): Promise<Settled> => {
    const answer = await t.ledger.settle(key, "t", verdict, undefined, taker);
    if (answer.kind === "stale") throw new Error("stale");
    return answer;
  };
  const handed = async (verdict?: Verdict, taker?: Taker): Promise<ObjectKey | undefined> =>
    (await settle(verdict, taker)).handed?.key;

  beforeEach(async () => {
    await t.wake(key);
    await t.claim(key, "t");
    await t.wake(rung);
    await t.rung();
  });

  describe("a key whose turn it is", () => {
    it("is handed over as if it had been claimed, and its bell is not rung", async () => {
      await t.wake(first, { reason: "Added", class: "listing", uid: "u1", trace: "00-1" });
      const { handed: found, bells } = await settle();
      expect(found).toMatchObject({
        key: first,
        claim: { fails: 0, reasons: ["Added"], class: "listing", uid: "u1", trace: "00-1" },
      });
      expect(bells).toEqual([]);
      expect(await t.refusal(first)).toBe("leased");
      expect(await t.ledger.claim(first, "next")).toEqual({ claimed: found?.claim });
      expect((await t.ledger.renew([{ key: first, token: "next" }])).lost).toEqual([]);
      expect(await t.ledger.settle(first, "next", done)).toMatchObject({ kind: "settled" });
      expect(await t.refusal(first)).toBe("nothing due");
    });
    it("is leased for one lease from then on", async () => {
      await t.wake(first);
      expect(await handed()).toBe(first);
      t.clock += lease;
      expect(await t.ledger.settle(first, "next", done)).toMatchObject({ kind: "settled" });
      await t.wake(second);
      await t.claim(rung, "t2");
      const again = { token: "again", version: 0 };
      expect(await t.ledger.settle(rung, "t2", done, undefined, again)).toMatchObject({
        handed: { key: second },
      });
      t.clock += lease;
      expect(await t.rung()).toEqual([second]);
    });
    it("may be the one that was settled", async () => {
      await t.wake(key);
      expect(await handed()).toBe(key);
      expect(await t.ledger.settle(key, "next", done)).toMatchObject({ kind: "settled" });
    });
    it("may be one whose time has come just now", async () => {
      await t.claim(rung, "t2");
      await t.ledger.settle(rung, "t2", { kind: "done", after: 10 });
      t.clock += 10;
      expect(await handed()).toBe(rung);
    });
    it("is found as for a bell: namespaces take turns, and of eight one looks for what waits longest", async () => {
      const keys = [...keysIn("b", 9, "change"), ...keysIn("c", 9, "change")];
      for (const each of keysIn("d", 3, "resync")) await t.wake(each, { class: "resync" });
      for (const each of keys) await t.wake(each);
      const ran: string[] = [];
      let [mine, token] = [key, "t"];
      for (let i = 0; i < 16; i++) {
        const taker = { token: `t${i}`, version: 0 };
        const answer = await t.ledger.settle(mine, token, done, undefined, taker);
        if (answer.kind === "stale" || !answer.handed) throw new Error("Nothing was handed over.");
        [mine, token] = [answer.handed.key, taker.token];
        ran.push(mine);
      }
      expect(ran.filter((each) => each.startsWith("d"))).toHaveLength(2);
      const changes = ran.filter((each) => !each.startsWith("d")).map((each) => each.slice(0, 1));
      expect(changes.join("")).not.toMatch(/bb|cc/);
    });
    it("spends what limits allow, and waits when they allow no more", async () => {
      await t.enlist({ runs: { perSecond: 10, burst: 1 } });
      await t.wake(first);
      await t.wake(second);
      expect(await handed()).toBe(first);
      const again = { token: "again", version: 0 };
      const answer = await t.ledger.settle(first, "next", done, undefined, again);
      expect(answer).not.toHaveProperty("handed.key");
      expect(await t.ledger.ring()).toMatchObject({ next: 100 });
    });
  });

  describe("nothing is handed over", () => {
    it("where nothing but a bell that was just rung is due", async () => {
      expect(await settle()).toMatchObject({ handed: undefined, bells: [] });
    });
    it("to who asks for nothing: its slot is idle, and a bell is rung for it", async () => {
      await t.enlist({ slots: 2 });
      await t.claim(rung);
      expect(await t.wake(first)).toEqual([]);
      expect(await t.wake(second)).toEqual([]);
      const answer = await t.ledger.settle(key, "t", done);
      expect(answer).toMatchObject({ bells: [{ key: first }] });
      expect(answer).not.toHaveProperty("handed.key");
    });
    it("of what is paused: the controller, a namespace, an object that was rung before", async () => {
      await t.wake(first);
      await t.ledger.pause({ kind: "namespace", namespace: "a" }, "tests");
      await t.ledger.pause({ kind: "object", key: rung }, "tests");
      t.clock += bellOverlooked;
      expect(await handed()).toBeUndefined();
      expect((await t.ledger.inspect(rung)).key).toMatchObject({
        state: "paused",
        pauses: [{ scope: "object" }],
      });
      expect(await t.ledger.resume({ kind: "object", key: rung })).toEqual([]); // its job is still out
      expect((await t.ledger.inspect(rung)).key).toMatchObject({ state: "rung" });
    });
    it("while the controller is paused, and who waits keeps its place", async () => {
      await t.wake(first);
      const { key: before } = await t.ledger.inspect(first);
      await t.ledger.pause({ kind: "controller" }, "tests");
      t.clock += bellOverlooked - 1;
      expect(await handed()).toBeUndefined();
      expect((await t.ledger.inspect(first)).key).toMatchObject({
        ...before,
        pauses: [{ scope: "controller", by: "tests" }],
      });
    });
    it("of an account that was closed after the bell was rung", async () => {
      await t.run(rung, { kind: "done", account: "aws" });
      await t.wake(rung);
      t.clock += bellOverlooked;
      expect(await handed({ kind: "throttled", account: "aws", after: 1_000 })).toBeUndefined();
      expect((await t.ledger.inspect(rung)).key).toMatchObject({ state: "ready" });
    });
    it("to an older function than the last one that ran it", async () => {
      await t.enlist({ worker: "new", version: 2 });
      expect(await t.ledger.claim(rung, "t2", 2)).toMatchObject({ claimed: {} });
      await t.ledger.settle(rung, "t2", done);
      await t.wake(rung);
      t.clock += bellOverlooked;
      expect(await handed(done, { token: "next", version: 1 })).toBeUndefined();
      expect((await t.ledger.inspect(rung)).key).toMatchObject({ state: "waits", why: "newer function" });
    });
    it("on another server, until runs under way have announced themselves", async () => {
      await t.wake(first);
      await t.ledger.renew([{ key, token: "t" }]);
      t.server = "another";
      await t.ledger.renew([{ key, token: "t" }]);
      expect(await handed()).toBeUndefined();
      t.clock += settling;
      expect(await t.rung()).toHaveLength(1);
    });
  });

  it("remembers the version of the function that it handed a key to", async () => {
    await t.enlist({ worker: "new", version: 2 });
    await t.wake(first);
    expect(await handed(done, { token: "next", version: 2 })).toBe(first);
    await t.ledger.settle(first, "next", done);
    await t.wake(first);
    await t.claim(rung);
    await t.rung();
    expect(await t.ledger.claim(first, "old", 1)).toEqual({ refused: "outdated" });
  });

  describe("a repeat", () => {
    it("is handed the same key, as after a lost reply", async () => {
      await t.wake(first);
      await t.wake(second);
      const answer = await settle();
      expect(await settle()).toEqual({ ...answer, bells: [] });
      expect(await t.ledger.count()).toMatchObject({ running: 1 });
    });
    it("is handed its own key again, too", async () => {
      await t.wake(key);
      const answer = await settle();
      expect(answer.handed?.key).toBe(key);
      expect(await settle()).toEqual({ ...answer, bells: [] });
    });
    it("is handed nothing that others run by then, or that has ended", async () => {
      await t.wake(first);
      expect(await handed()).toBe(first);
      t.clock += lease;
      expect(await handed()).toBeUndefined();
      await t.ledger.ring();
      await t.claim(rung);
      await t.rung();
      await t.claim(first, "other");
      expect(await handed()).toBeUndefined();
    });
    it("is handed nothing that was not handed to it", async () => {
      await t.wake(first);
      expect(await handed()).toBe(first);
      expect(await handed(done, { token: "another", version: 0 })).toBeUndefined();
    });
  });

  describe("a bell that nobody answers", () => {
    it("is answered by who is handed its key, before others have their turn", async () => {
      await t.wake(first);
      t.clock += bellOverlooked;
      expect(await handed()).toBe(rung);
      expect(await t.refusal(rung)).toBe("leased"); // its job has no effect
    });
    it("is not doubled: it serves when its key is due again", async () => {
      t.clock += bellOverlooked;
      expect(await handed()).toBe(rung);
      await t.wake(rung);
      expect(await t.ledger.settle(rung, next.token, done)).toMatchObject({ bells: [] });
      expect(await t.list("rung")).toHaveLength(1);
      await t.run(rung, done);
      expect(await t.wake(rung)).toEqual([rung]);
    });
    it("and is lost is rung again once its key is due again", async () => {
      t.clock += bellOverlooked;
      expect(await handed()).toBe(rung);
      await t.wake(rung);
      await t.ledger.settle(rung, next.token, done);
      t.clock += 2_000;
      const [lost] = await t.ledger.unanswered(2_000);
      await t.ledger.ringAgain(lost!);
      const [again] = (await t.ledger.ring()).bells;
      expect(again).toMatchObject({ key: rung });
      expect(again?.number).not.toBe(lost?.number);
    });
    it("is left to those who are on their way to it", async () => {
      await t.wake(first);
      t.clock += bellOverlooked - 1;
      expect(await handed()).toBe(first);
    });
  });

  it("rings for idle slots only; where all seem busy, a ringer has one bell out", async () => {
    await t.enlist({ slots: 3 });
    await t.claim(rung);
    for (const each of keysIn("a", 6)) await t.wake(each);
    const bells = () => t.list("rung");
    expect(await bells()).toHaveLength(1);
    await t.enlist({ slots: 5 });
    expect(await t.rung()).toHaveLength(2);
    for (const { key: each } of await bells()) await t.claim(each);
    await t.wake(objectKey({ namespace: "a", name: "last" }));
    expect(await bells()).toEqual([]);
    expect(await t.rung()).toHaveLength(1);
    expect(await t.rung()).toEqual([]);
  });
}
