import { objectKey } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { done, key, lease, type LedgerUnderTest, recoveryWindow } from "./ledger-under-test.ts";

/** Runs and wakes after another server has taken over, which may have lost data. */
export function serversContract(t: LedgerUnderTest): void {
  /** Claims the key, and fails over to a server that has the wake, but not the claim. */
  const claimUnseen = async (): Promise<void> => {
    await t.wake(key);
    const failOver = await t.backup();
    await t.claim(key, "t");
    await failOver();
  };
  describe("another server", () => {
    it("is a new incarnation, once; the same server is not", async () => {
      await t.wake(key);
      expect(t.incarnations).toHaveLength(1);
      t.server = "another";
      await t.wake(key);
      await t.ledger.dispatch();
      expect(t.incarnations).toHaveLength(2);
      expect(t.incarnations[0]).not.toBe(t.incarnations[1]);
    });
    it("also where it has been before: demoted and promoted again", async () => {
      await t.wake(key);
      for (const server of ["another", "first"]) {
        t.server = server;
        t.clock += 1;
        await t.ledger.dispatch();
      }
      expect(new Set(t.incarnations).size).toBe(3);
    });
    it("keeps the first incarnation of the data that it took over, and has one of its own where nothing was left", async () => {
      const first = await t.ledger.firstIncarnation();
      expect(first).not.toBe("");
      const restore = await t.backup();
      await restore();
      expect(await t.ledger.firstIncarnation()).toBe(first);
      expect(new Set(t.incarnations).size).toBeGreaterThan(1);
      await t.loseAll();
      expect(await t.ledger.firstIncarnation()).not.toBe(first);
    });
    it("is noticed by whichever call is the first", async () => {
      await t.wakeAndClaim(key, "t");
      const calls = [
        () => t.wake(key),
        () => t.ledger.claim(key, "u"),
        () => t.ledger.renew([]),
        () => t.ledger.settle(key, "u", done),
        () => t.ledger.dispatch(),
        () => t.ledger.unclaimedJobs(0),
        () => t.ledger.dispatchAgain({ key, number: "0" }),
        () => t.registerWorker(),
        () => t.ledger.pause({ kind: "object", key }, "tests"),
        () => t.ledger.firstIncarnation(),
        () => t.ledger.count(),
        () => t.list("ready"),
        () => t.ledger.inspect(key),
      ];
      for (const [i, call] of calls.entries()) {
        t.server = `server ${i}`;
        await call();
        expect(t.incarnations).toHaveLength(i + 2);
      }
    });
    it("lets nothing be claimed or dispatched until runs under way had time to announce themselves", async () => {
      await t.wake(key);
      t.server = "another";
      expect(await t.refusal(key, "t")).toBe("recovering");
      expect(await t.wake(objectKey({ name: "other" }))).toEqual([]);
      expect(await t.ledger.dispatch()).toEqual({ jobs: [], next: recoveryWindow });
      t.clock += recoveryWindow;
      expect(await t.dispatched()).toEqual([key]);
    });
    it("dispatches again what was dispatched: its jobs may be lost", async () => {
      await t.wake(key);
      t.server = "another";
      await t.ledger.dispatch();
      t.clock += recoveryWindow;
      expect(await t.dispatched()).toEqual([key]);
    });
    it("has a recovery window that ends at most its length from now, also where its clock goes back, and never twice", async () => {
      await t.wake(key);
      t.server = "another";
      await t.ledger.dispatch();
      t.clock -= 600_000;
      expect(await t.ledger.dispatch()).toEqual({ jobs: [], next: recoveryWindow });
      t.clock += recoveryWindow;
      expect(await t.dispatched()).toEqual([key]);
      t.clock -= 1;
      expect(await t.refusal(key)).toBe("claimed");
    });
    it("counts no lease as ended before its run had time to announce itself", async () => {
      await t.wakeAndClaim(key, "t");
      t.clock += lease;
      t.server = "another";
      expect(await t.refusal(key)).toBe("recovering");
      expect(await t.inspect(key)).toMatchObject({ state: "leased", fails: 0 });
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual([]);
    });
    it("cuts leases to one lease from now, also where its clock is behind", async () => {
      await t.wakeAndClaim(key, "t");
      t.server = "another";
      t.clock -= 600_000;
      await t.ledger.dispatch();
      t.clock += lease;
      expect(await t.dispatched()).toEqual([key]);
    });
  });

  describe("a server that lost the tail", () => {
    it("hears of a run under way when it renews, and nobody else gets the key", async () => {
      await claimUnseen();
      const heard = { lost: [], announced: ["t"] };
      expect(await t.ledger.renew([{ key, token: "t" }])).toMatchObject(heard);
      t.clock += recoveryWindow;
      // A repeated renewal, as the answer may have been lost.
      expect(await t.ledger.renew([{ key, token: "t" }])).toMatchObject(heard);
      expect(await t.refusal(key, "u")).toBe("leased");
      expect(await t.ledger.settle(key, "t", done)).toMatchObject({ kind: "settled" });
      expect(await t.dispatched()).toEqual([]); // settle has dispatched it, as wakes since may have been lost
      expect(await t.refusal(key, "u")).toBe("claimed");
    });
    it("gives no cached object of an older run, when one that announced itself has died", async () => {
      const observed = { kind: "buckets", uid: "u1", resourceVersion: "5", cachedObject: "five" };
      await t.wake(key, { uid: "u1", resourceVersion: "5" });
      const failOver = await t.backup();
      await failOver();
      expect(await t.ledger.settle(key, "older", { ...done, observed })).toMatchObject({ kind: "settled" });
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual([]); // it may write a newer version, and die
      t.clock += lease;
      await t.dispatched();
      expect((await t.claim(key, "u")).cachedObject).toBeUndefined();
    });
    it("leases nothing to a run that has settled, though it is heard to renew afterwards", async () => {
      await claimUnseen();
      expect(await t.ledger.settle(key, "t", done)).toMatchObject({ kind: "settled" });
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual(["t"]);
      t.clock += recoveryWindow;
      expect(await t.dispatched()).toEqual([key]);
    });
    it("believes the run that announces itself, not the lease of an older one", async () => {
      await t.wakeAndClaim(key, "older");
      const failOver = await t.backup();
      await t.ledger.settle(key, "older", done);
      await t.wakeAndClaim(key, "t");
      await failOver();
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual([]);
      expect(await t.ledger.renew([{ key, token: "older" }])).toMatchObject({
        lost: ["older"],
        announced: [],
      });
      expect(await t.ledger.settle(key, "older", done)).toEqual({ kind: "stale" });
    });
    it("believes the run that it knows, once that has renewed, not one from which the key was taken before", async () => {
      await t.wakeAndClaim(key, "before");
      t.clock += lease;
      await t.dispatched();
      await t.claim(key, "t");
      t.server = "another";
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual([]);
      expect((await t.ledger.renew([{ key, token: "before" }])).lost).toEqual(["before"]);
      t.clock += recoveryWindow;
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual([]);
    });
    it("takes the outcome of a run that it does not know of, and has the key looked at once more", async () => {
      await claimUnseen();
      expect(await t.ledger.settle(key, "t", { kind: "done", after: 60_000 })).toMatchObject({
        kind: "settled",
      });
      t.clock += recoveryWindow;
      expect(await t.dispatched()).toEqual([key]);
    });
    it("does not take an outcome twice, nor one that comes too late", async () => {
      await claimUnseen();
      await t.ledger.settle(key, "t", { kind: "terminal", error: "no" });
      expect(await t.ledger.settle(key, "t", done)).toMatchObject({ kind: "settled", jobs: [] });
      t.clock += recoveryWindow;
      expect(await t.ledger.settle(key, "unknown", done)).toEqual({ kind: "stale" });
    });
    it("refuses a run that announces itself too late", async () => {
      await claimUnseen();
      await t.ledger.dispatch();
      t.clock += recoveryWindow;
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual(["t"]);
    });
  });

  describe("a server whose data are gone", () => {
    it("is a new incarnation though it is the same server", async () => {
      await t.wake(key);
      await t.loseAll();
      await t.wake(key);
      expect(t.incarnations).toHaveLength(2);
    });
    it("hears of the runs under way when they renew", async () => {
      await t.wakeAndClaim(key, "t");
      await t.loseAll();
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual([]);
      t.clock += recoveryWindow;
      expect(await t.refusal(key, "u")).toBe("leased");
    });
  });
}
