import { beforeEach, describe, expect, it } from "vitest";
import { maxCachedObjectBytes, maxDeltaBytes, maxSeenBytes } from "./cache-bounds.ts";
import { maxListItems } from "../redis/lua/script-bounds.ts";
import type { Claim, ObservedVersion, RunOutcome, Wake } from "../work-queue/work-queue.ts";
import {
  done,
  key,
  keysIn,
  lease,
  outcomesLeavingNothing,
  type LedgerUnderTest,
  recoveryWindow,
} from "../ledger/contract/ledger-under-test.ts";

/**
 * When a run gets the lists that the previous run left, with all deltas since. The first run of the key is in progress.
 */
export function cachedListsContract(t: LedgerUnderTest): void {
  const observed: ObservedVersion = { kind: "buckets", uid: "u1", resourceVersion: "100" };
  const leaves = (cachedLists: string, outcome: RunOutcome = done): RunOutcome => ({
    ...outcome,
    observed: { ...observed, cachedLists },
  });
  const wakeWithDelta = (delta: string, fields: Partial<Wake> = {}) =>
    t.wake(key, { kind: "pods", delta, ...fields });
  let runs = 0;
  const begin = (): Promise<Claim> => t.begin(key, `run ${++runs}`);
  const end = (outcome: RunOutcome) => t.ledger.settle(key, `run ${runs}`, outcome);
  const claimedLists = async (): Promise<Claim["cachedLists"]> => (await begin()).cachedLists;

  beforeEach(async () => {
    await t.wake(key, { uid: "u1", resourceVersion: "100" });
    await begin();
  });

  describe("lists go to the next run", () => {
    it("whatever wakes it, once, with the deltas since the run before began", async () => {
      await wakeWithDelta("a");
      await end(leaves("left"));
      await wakeWithDelta("b");
      await wakeWithDelta("b");
      expect(await claimedLists()).toEqual({ stored: "left", deltas: ["a", "b"] });
      expect((await t.claim(key, `run ${runs}`)).cachedLists).toBeUndefined();
      await wakeWithDelta("c");
      await end(leaves("left anew"));
      expect(await claimedLists()).toEqual({ stored: "left anew", deltas: ["c"] });
      await end(leaves("once more", { kind: "wait", after: 10 }));
      t.clock += 10;
      expect(await claimedLists()).toEqual({ stored: "once more", deltas: [] });
      await end({ ...done, observed });
      await wakeWithDelta("d");
      expect(await claimedLists()).toBeUndefined();
    });
    it("also where its object has changed", async () => {
      await end(leaves("left"));
      await t.wake(key, { uid: "u1", resourceVersion: "101", cachedObject: "copy" });
      expect(await begin()).toMatchObject({
        cachedObject: "copy",
        cachedLists: { stored: "left", deltas: [] },
      });
    });
    it("of the key that is chained, or assigned to an idle slot", async () => {
      await wakeWithDelta("a");
      const next = { token: "next", version: 0 };
      const answer = await t.ledger.settle(key, `run ${runs}`, leaves("left"), undefined, next);
      expect(answer).toMatchObject({
        chained: { claim: { cachedLists: { stored: "left", deltas: ["a"] } } },
      });
      await t.ledger.settle(key, "next", leaves("anew"));
      const assigned: unknown[] = [];
      const subscription = t.ledger.receiveAssignments("w1", (one) => void assigned.push(one));
      await subscription.caughtUp();
      await t.ledger.advertise({ worker: "w1", askedAt: 1, version: 0, tokens: ["slot"] });
      await wakeWithDelta("b");
      await subscription.caughtUp();
      subscription.stop();
      expect(assigned).toMatchObject([
        { slot: "slot", claim: { cachedLists: { stored: "anew", deltas: ["b"] } } },
      ]);
    });
  });

  describe("a change that the run before has seen", () => {
    const seesA: ObservedVersion = { ...observed, cachedLists: "left", seen: ["a1,", "b1,"] };
    const seenA: RunOutcome = { ...done, observed: seesA };
    const isDue = async (): Promise<boolean> => {
      await t.dispatched();
      return (await t.inspect(key)).state === "dispatched";
    };

    it("causes no run, whether it came during that run or after it", async () => {
      await wakeWithDelta("a1,{}");
      await wakeWithDelta("b1,{}", { resourceVersion: "1009" });
      expect(await end(seenA)).toMatchObject({ kind: "settled", dueIn: undefined });
      expect(await isDue()).toBe(false);
      await wakeWithDelta("a1,{}", { resourceVersion: "1012", reason: "Seen" });
      expect(await isDue()).toBe(false);
      await wakeWithDelta("a2,{}", { resourceVersion: "1011", reason: "News" });
      expect(await begin()).toMatchObject({
        reasons: ["News"],
        versions: { pods: "1012" },
        cachedLists: { stored: "left", deltas: ["a2,{}"] },
      });
    });
    it("leaves the timer that the run has set", async () => {
      await wakeWithDelta("a1,{}");
      expect(await end({ kind: "done", after: 5_000, observed: seesA })).toMatchObject({ dueIn: 5_000 });
      await wakeWithDelta("b1,{}");
      expect(await t.inspect(key)).toMatchObject({ state: "waits", class: "resync", reasons: [] });
    });
    it.each<[string, Partial<Wake>, boolean?]>([
      ["another version of it", { delta: "a10,{}" }],
      ["its deletion", { delta: "a1}" }],
      ["a change that cannot be expressed", { delta: "" }],
      ["a change without a delta", {}],
      ["the key's own object", { delta: "a1,{}", kind: "buckets", uid: "u1", resourceVersion: "101" }],
      ["a forced wake", { delta: "a1,{}" }, true],
    ])("does not stand for %s", async (_, fields, force = false) => {
      const wake = () => t.wake(key, { kind: "pods", ...fields }, force);
      await wakeWithDelta("b1,{}");
      await wake();
      await end(seenA);
      expect(await isDue()).toBe(true);
      await begin();
      await end(seenA);
      await wake();
      expect(await isDue()).toBe(true);
    });
    it.each<[string, RunOutcome]>([
      ["was not done", { kind: "wait", after: 5_000, observed: seesA }],
      ["left no lists", { ...done, observed: { ...observed, seen: ["a1,"] } }],
      ["saw another object", { ...done, observed: { ...seesA, uid: "u2" } }],
      ["has seen too much", { ...done, observed: { ...seesA, seen: ["a1,", "x".repeat(maxSeenBytes - 3)] } }],
    ])("counts if the run %s", async (_, outcome) => {
      await wakeWithDelta("a1,{}");
      await end(outcome);
      expect(await isDue()).toBe(true);
      await begin();
      await end(outcome);
      await wakeWithDelta("a1,{}");
      expect(await isDue()).toBe(true);
    });
    it("is forgotten with the next run", async () => {
      await end(seenA);
      await wakeWithDelta("a2,{}");
      await begin();
      await end(leaves("left"));
      await wakeWithDelta("a1,{}");
      expect(await isDue()).toBe(true);
    });
    it("counts on another server: a run there may be lost", async () => {
      await end(seenA);
      t.server = "another";
      await t.dispatched();
      t.clock += recoveryWindow;
      await wakeWithDelta("a1,{}");
      expect(await isDue()).toBe(true);
    });
  });

  describe("no lists are given", () => {
    const expectNone = async (): Promise<void> => {
      await wakeWithDelta("since");
      expect(await claimedLists()).toBeUndefined();
    };
    it("where a delta is not known", async () => {
      await wakeWithDelta("");
      await end(leaves("left"));
      await expectNone();
      await end(leaves("left"));
      await wakeWithDelta("");
      await expectNone();
      await end(leaves("left"));
      expect(await (wakeWithDelta("known"), claimedLists())).toEqual({ stored: "left", deltas: ["known"] });
    });
    it("where there are more deltas than are kept", async () => {
      await end(leaves("left"));
      await wakeWithDelta("é".repeat(maxDeltaBytes / 2));
      expect(await claimedLists()).toMatchObject({ stored: "left" });
      await wakeWithDelta("é".repeat(maxDeltaBytes / 2 - 1));
      await wakeWithDelta("four");
      await end(leaves("left"));
      await expectNone();
    });
    it("where more keys are ready than objects are cached for", async () => {
      await end(leaves("left"));
      await t.registerWorker({ slots: 0 });
      const wakes = keysIn("crowd", maxCachedObjectBytes / maxDeltaBytes + 1).map((of): Wake => ({
        key: of,
        kind: "buckets",
        resourceVersion: "1",
        reason: "Added",
        class: "listing",
      }));
      for (let i = 0; i < wakes.length; i += maxListItems)
        await t.ledger.wake(wakes.slice(i, i + maxListItems));
      await wakeWithDelta("é".repeat(maxDeltaBytes / 2));
      await t.registerWorker({ slots: maxCachedObjectBytes });
      expect(await claimedLists()).toBeUndefined();
    });
    it.each<[string, RunOutcome]>([
      ...outcomesLeavingNothing.map(
        ([how, outcome]) => [how, leaves("left", outcome)] as [string, RunOutcome],
      ),
      ["saw another object", { ...done, observed: { ...observed, uid: "u2", cachedLists: "left" } }],
    ])("of a run that %s", async (_, outcome) => {
      await end(outcome);
      t.clock += 1; // the account is no longer throttled
      await t.wake(key, { uid: "u1", resourceVersion: "101", paused: false });
      await expectNone();
    });
    it("after a run that ended without an outcome", async () => {
      await end(leaves("left"));
      await wakeWithDelta("a");
      await begin();
      t.clock += lease;
      await expectNone();
    });
    it("to who forced the key", async () => {
      await end(leaves("left"));
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      expect(await claimedLists()).toBeUndefined();
      await wakeWithDelta("during its run, and forgotten if the force were to forget it");
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      await end(leaves("left"));
      expect(await claimedLists()).toBeUndefined();
    });
    it("on another server, also of a run that began on the one before: deltas may be lost", async () => {
      await end(leaves("left"));
      t.server = "another";
      await t.dispatched();
      t.clock += recoveryWindow;
      await expectNone();
      t.server = "third";
      await t.ledger.renew([{ key, token: `run ${runs}` }]);
      await end(leaves("left"));
      t.clock += recoveryWindow;
      await expectNone();
      await end(leaves("left"));
      expect(await (wakeWithDelta("b"), claimedLists())).toEqual({ stored: "left", deltas: ["b"] });
    });
    it("after a run that the data do not tell of, neither its own nor what they tell of", async () => {
      await end(leaves("left"));
      t.server = "another";
      await t.ledger.renew([{ key, token: "elsewhere" }]);
      await t.ledger.settle(key, "elsewhere", leaves("left elsewhere"));
      t.clock += recoveryWindow;
      await expectNone();
    });
  });
}
