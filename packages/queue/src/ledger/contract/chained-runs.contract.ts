import { objectKey, type ObjectKey } from "@drover/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { overdueJobAge, type SettleAnswer, type SlotRequest } from "../ledger.ts";
import type { RunOutcome } from "../../work-queue/work-queue.ts";
import { done, key, keysIn, lease, type LedgerUnderTest, recoveryWindow } from "./ledger-under-test.ts";

/**
 * The keys that are chained to a run when its worker settles it. There is one slot, which runs `key`, and one
 * dispatched key.
 */
export function chainedRunsContract(t: LedgerUnderTest): void {
  const dispatchedKey = objectKey({ namespace: "dispatched", name: "before" });
  const [first, second] = keysIn("a", 2) as [ObjectKey, ObjectKey];
  const next: SlotRequest = { token: "next", version: 0 };
  type Settled = SettleAnswer & { readonly kind: "settled" };
  /** Settles the run of `key` for a worker that asks for another key. */
  const settle = async (outcome: RunOutcome = done, request = next): Promise<Settled> => {
    const answer = await t.ledger.settle(key, "t", outcome, undefined, request);
    if (answer.kind === "stale") throw new Error("stale");
    return answer;
  };
  const chained = async (outcome?: RunOutcome, request?: SlotRequest): Promise<ObjectKey | undefined> =>
    (await settle(outcome, request)).chained?.key;

  beforeEach(async () => {
    await t.wakeAndClaim(key, "t");
    await t.wake(dispatchedKey);
    await t.dispatched();
  });

  describe("a key whose turn it is", () => {
    it("is chained as if it had been claimed, and no job is added for it", async () => {
      await t.wake(first, { reason: "Added", class: "listing", uid: "u1", trace: "00-1" });
      const { chained: found, jobs } = await settle();
      expect(found).toMatchObject({
        key: first,
        claim: { fails: 0, reasons: ["Added"], class: "listing", uid: "u1", trace: "00-1" },
      });
      expect(jobs).toEqual([]);
      expect(await t.refusal(first)).toBe("leased");
      expect(await t.ledger.claim(first, "next")).toEqual({ claimed: { ...found, arrival: "dequeued" } });
      expect((await t.ledger.renew([{ key: first, token: "next" }])).lost).toEqual([]);
      expect(await t.ledger.settle(first, "next", done)).toMatchObject({ kind: "settled" });
      expect(await t.refusal(first)).toBe("nothing due");
    });
    it("is leased for one lease from then on", async () => {
      await t.wake(first);
      expect(await chained()).toBe(first);
      t.clock += lease;
      expect(await t.ledger.settle(first, "next", done)).toMatchObject({ kind: "settled" });
      await t.wake(second);
      await t.claim(dispatchedKey, "t2");
      const again = { token: "again", version: 0 };
      expect(await t.ledger.settle(dispatchedKey, "t2", done, undefined, again)).toMatchObject({
        chained: { key: second },
      });
      t.clock += lease;
      expect(await t.dispatched()).toEqual([second]);
    });
    it("may be the one that was settled", async () => {
      await t.wake(key);
      expect(await chained()).toBe(key);
      expect(await t.ledger.settle(key, "next", done)).toMatchObject({ kind: "settled" });
    });
    it("may be one whose time has come just now", async () => {
      await t.claim(dispatchedKey, "t2");
      await t.ledger.settle(dispatchedKey, "t2", { kind: "done", after: 10 });
      t.clock += 10;
      expect(await chained()).toBe(dispatchedKey);
    });
    it("is found as for a job: namespaces take turns, and of eight one looks for what waits longest", async () => {
      const keys = [...keysIn("b", 9, "change"), ...keysIn("c", 9, "change")];
      for (const each of keysIn("d", 3, "resync")) await t.wake(each, { class: "resync" });
      for (const each of keys) await t.wake(each);
      const ran: string[] = [];
      let [mine, token] = [key, "t"];
      for (let i = 0; i < 16; i++) {
        const request = { token: `t${i}`, version: 0 };
        const answer = await t.ledger.settle(mine, token, done, undefined, request);
        if (answer.kind === "stale" || !answer.chained) throw new Error("Nothing was chained.");
        [mine, token] = [answer.chained.key, request.token];
        ran.push(mine);
      }
      expect(ran.filter((each) => each.startsWith("d"))).toHaveLength(2);
      const changes = ran.filter((each) => !each.startsWith("d")).map((each) => each.slice(0, 1));
      expect(changes.join("")).not.toMatch(/bb|cc/);
    });
    it("spends what limits allow, and waits when they allow no more", async () => {
      await t.registerWorker({ runs: { perSecond: 10, burst: 1 } });
      await t.wake(first);
      await t.wake(second);
      expect(await chained()).toBe(first);
      const again = { token: "again", version: 0 };
      const answer = await t.ledger.settle(first, "next", done, undefined, again);
      expect(answer).not.toHaveProperty("chained.key");
      expect(await t.ledger.dispatch()).toMatchObject({ next: 100 });
    });
  });

  describe("nothing is chained", () => {
    it("where nothing but a job that was just added is due", async () => {
      expect(await settle()).toMatchObject({ chained: undefined, jobs: [] });
    });
    it("to who asks for nothing: its slot is idle, and a job is added for it", async () => {
      await t.registerWorker({ slots: 2 });
      await t.claim(dispatchedKey);
      expect(await t.wake(first)).toEqual([]);
      expect(await t.wake(second)).toEqual([]);
      const answer = await t.ledger.settle(key, "t", done);
      expect(answer).toMatchObject({ jobs: [{ key: first }] });
      expect(answer).not.toHaveProperty("chained.key");
    });
    it("of what is paused: the controller, a namespace, an object that was dispatched before", async () => {
      await t.wake(first);
      await t.ledger.pause({ kind: "namespace", namespace: "a" }, "tests");
      await t.ledger.pause({ kind: "object", key: dispatchedKey }, "tests");
      t.clock += overdueJobAge;
      expect(await chained()).toBeUndefined();
      expect(await t.inspect(dispatchedKey)).toMatchObject({
        state: "paused",
        pauses: [{ scope: "object" }],
      });
      expect(await t.ledger.resume({ kind: "object", key: dispatchedKey })).toEqual([]); // its job is still out
      expect(await t.inspect(dispatchedKey)).toMatchObject({ state: "dispatched" });
    });
    it("while the controller is paused, and who waits keeps its place", async () => {
      await t.wake(first);
      const { key: before } = await t.ledger.inspect(first);
      await t.ledger.pause({ kind: "controller" }, "tests");
      t.clock += overdueJobAge - 1;
      expect(await chained()).toBeUndefined();
      expect(await t.inspect(first)).toMatchObject({
        ...before,
        pauses: [{ scope: "controller", by: "tests" }],
      });
    });
    it("of an account that was closed after the job was added", async () => {
      await t.run(dispatchedKey, { kind: "done", account: "aws" });
      await t.wake(dispatchedKey);
      t.clock += overdueJobAge;
      expect(await chained({ kind: "throttled", account: "aws", after: 1_000 })).toBeUndefined();
      expect(await t.inspect(dispatchedKey)).toMatchObject({ state: "ready" });
    });
    it("to an older function than the last one that ran it", async () => {
      await t.registerWorker({ worker: "new", version: 2 });
      expect(await t.ledger.claim(dispatchedKey, "t2", 2)).toMatchObject({ claimed: {} });
      await t.ledger.settle(dispatchedKey, "t2", done);
      await t.wake(dispatchedKey);
      t.clock += overdueJobAge;
      expect(await chained(done, { token: "next", version: 1 })).toBeUndefined();
      expect(await t.inspect(dispatchedKey)).toMatchObject({
        state: "waits",
        why: "newer function",
      });
    });
    it("on another server, until runs under way have announced themselves", async () => {
      await t.wake(first);
      await t.ledger.renew([{ key, token: "t" }]);
      t.server = "another";
      await t.ledger.renew([{ key, token: "t" }]);
      expect(await chained()).toBeUndefined();
      t.clock += recoveryWindow;
      expect(await t.dispatched()).toHaveLength(1);
    });
  });

  it("stores the version of the function that a key was chained for", async () => {
    await t.registerWorker({ worker: "new", version: 2 });
    await t.wake(first);
    expect(await chained(done, { token: "next", version: 2 })).toBe(first);
    await t.ledger.settle(first, "next", done);
    await t.wake(first);
    await t.claim(dispatchedKey);
    await t.dispatched();
    expect(await t.ledger.claim(first, "old", 1)).toEqual({ refused: "outdated" });
  });

  describe("a repeat", () => {
    it("gets the same key, as after a lost reply", async () => {
      await t.wake(first);
      await t.wake(second);
      const answer = await settle();
      expect(await settle()).toEqual({ ...answer, jobs: [] });
      expect(await t.ledger.count()).toMatchObject({ running: 1 });
    });
    it("gets its own key again, too", async () => {
      await t.wake(key);
      const answer = await settle();
      expect(answer.chained?.key).toBe(key);
      expect(await settle()).toEqual({ ...answer, jobs: [] });
    });
    it("gets no key that others run by then, or that has ended", async () => {
      await t.wake(first);
      expect(await chained()).toBe(first);
      t.clock += lease;
      expect(await chained()).toBeUndefined();
      await t.ledger.dispatch();
      await t.claim(dispatchedKey);
      await t.dispatched();
      await t.claim(first, "other");
      expect(await chained()).toBeUndefined();
    });
    it("gets no key that was not chained to it", async () => {
      await t.wake(first);
      expect(await chained()).toBe(first);
      expect(await chained(done, { token: "another", version: 0 })).toBeUndefined();
    });
  });

  describe("a job that no worker takes", () => {
    it("is replaced by chaining its key, before others have their turn", async () => {
      await t.wake(first);
      t.clock += overdueJobAge;
      expect(await chained()).toBe(dispatchedKey);
      expect(await t.refusal(dispatchedKey)).toBe("leased"); // its job has no effect
    });
    it("is not doubled: it serves when its key is due again", async () => {
      t.clock += overdueJobAge;
      expect(await chained()).toBe(dispatchedKey);
      await t.wake(dispatchedKey);
      expect(await t.ledger.settle(dispatchedKey, next.token, done)).toMatchObject({ jobs: [] });
      expect(await t.list("dispatched")).toHaveLength(1);
      await t.run(dispatchedKey, done);
      expect(await t.wake(dispatchedKey)).toEqual([dispatchedKey]);
    });
    it("and is lost is added again once its key is due again", async () => {
      t.clock += overdueJobAge;
      expect(await chained()).toBe(dispatchedKey);
      await t.wake(dispatchedKey);
      await t.ledger.settle(dispatchedKey, next.token, done);
      t.clock += 2_000;
      const [lost] = await t.ledger.unclaimedJobs(2_000);
      await t.ledger.dispatchAgain(lost!);
      const [again] = (await t.ledger.dispatch()).jobs;
      expect(again).toMatchObject({ key: dispatchedKey });
      expect(again?.number).not.toBe(lost?.number);
    });
    it("is left to those who are on their way to it", async () => {
      await t.wake(first);
      t.clock += overdueJobAge - 1;
      expect(await chained()).toBe(first);
    });
  });

  it("adds jobs for idle slots only; if all seem busy, a dispatcher has one job out", async () => {
    await t.registerWorker({ slots: 3 });
    await t.claim(dispatchedKey);
    for (const each of keysIn("a", 6)) await t.wake(each);
    const jobs = () => t.list("dispatched");
    expect(await jobs()).toHaveLength(1);
    await t.registerWorker({ slots: 5 });
    expect(await t.dispatched()).toHaveLength(2);
    for (const { key: each } of await jobs()) await t.claim(each);
    await t.wake(objectKey({ namespace: "a", name: "last" }));
    expect(await jobs()).toEqual([]);
    expect(await t.dispatched()).toHaveLength(1);
    expect(await t.dispatched()).toEqual([]);
  });
}
