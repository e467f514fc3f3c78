import { beforeEach, describe, expect, it } from "vitest";
import { copiesKept, newsKept } from "../ledger.ts";
import { mostListed } from "../script-bounds.ts";
import type { Claim, Sight, Verdict, Wake } from "../work-queue.ts";
import {
  done,
  key,
  keysIn,
  lease,
  leavingNothing,
  type LedgerUnderTest,
  settling,
} from "./ledger-under-test.ts";

/**
 * When a run gets the lists that the previous run left, with all deltas since. The first run of the key is in progress.
 */
export function listsContract(t: LedgerUnderTest): void {
  const saw: Sight = { kind: "buckets", uid: "u1", resourceVersion: "100" };
  const leaves = (lists: string, verdict: Verdict = done): Verdict => ({
    ...verdict,
    saw: { ...saw, lists },
  });
  const told = (news: string, fields: Partial<Wake> = {}) => t.wake(key, { kind: "pods", news, ...fields });
  let runs = 0;
  const begin = async (): Promise<Claim> => {
    await t.rung();
    return t.claim(key, `run ${++runs}`);
  };
  const end = (verdict: Verdict) => t.ledger.settle(key, `run ${runs}`, verdict);
  const given = async (): Promise<Claim["lists"]> => (await begin()).lists;

  beforeEach(async () => {
    await t.wake(key, { uid: "u1", resourceVersion: "100" });
    await begin();
  });

  describe("lists go to the next run", () => {
    it("whatever wakes it, once, with what was told since the run before began", async () => {
      await told("a");
      await end(leaves("left"));
      await told("b");
      await told("b");
      expect(await given()).toEqual({ left: "left", news: ["a", "b"] });
      expect((await t.claim(key, `run ${runs}`)).lists).toBeUndefined();
      await told("c");
      await end(leaves("left anew"));
      expect(await given()).toEqual({ left: "left anew", news: ["c"] });
      await end(leaves("once more", { kind: "wait", after: 10 }));
      t.clock += 10;
      expect(await given()).toEqual({ left: "once more", news: [] });
      await end({ ...done, saw });
      await told("d");
      expect(await given()).toBeUndefined();
    });
    it("also where its object has changed", async () => {
      await end(leaves("left"));
      await t.wake(key, { uid: "u1", resourceVersion: "101", copy: "copy" });
      expect(await begin()).toMatchObject({ copy: "copy", lists: { left: "left", news: [] } });
    });
    it("of the key that is handed over, or given to a free slot", async () => {
      await told("a");
      const next = { token: "next", version: 0 };
      const handed = await t.ledger.settle(key, `run ${runs}`, leaves("left"), undefined, next);
      expect(handed).toMatchObject({ handed: { claim: { lists: { left: "left", news: ["a"] } } } });
      await t.ledger.settle(key, "next", leaves("anew"));
      const given: unknown[] = [];
      const hears = t.ledger.listen("w1", (one) => void given.push(one));
      await hears.caughtUp();
      await t.ledger.offer({ worker: "w1", askedAt: 1, version: 0, tokens: ["slot"] });
      await told("b");
      await hears.caughtUp();
      hears.stop();
      expect(given).toMatchObject([{ slot: "slot", claim: { lists: { left: "anew", news: ["b"] } } }]);
    });
  });

  describe("no lists are given", () => {
    const expectNone = async (): Promise<void> => {
      await told("since");
      expect(await given()).toBeUndefined();
    };
    it("where something was told of whose news are not known", async () => {
      await told("");
      await end(leaves("left"));
      await expectNone();
      await end(leaves("left"));
      await told("");
      await expectNone();
      await end(leaves("left"));
      expect(await (told("known"), given())).toEqual({ left: "left", news: ["known"] });
    });
    it("where there are more news than are kept", async () => {
      await end(leaves("left"));
      await told("é".repeat(newsKept / 2));
      expect(await given()).toMatchObject({ left: "left" });
      await told("é".repeat(newsKept / 2 - 1));
      await told("four");
      await end(leaves("left"));
      await expectNone();
    });
    it("where more keys are ready than copies are kept for", async () => {
      await end(leaves("left"));
      await t.enlist({ slots: 0 });
      const wakes = keysIn("crowd", copiesKept / newsKept + 1).map((of): Wake => ({
        key: of,
        kind: "buckets",
        resourceVersion: "1",
        reason: "Added",
        class: "listing",
      }));
      for (let i = 0; i < wakes.length; i += mostListed) await t.ledger.wake(wakes.slice(i, i + mostListed));
      await told("é".repeat(newsKept / 2));
      await t.enlist({ slots: copiesKept });
      expect(await given()).toBeUndefined();
    });
    it.each<[string, Verdict]>([
      ...leavingNothing.map(([how, verdict]) => [how, leaves("left", verdict)] as [string, Verdict]),
      ["saw another object", { ...done, saw: { ...saw, uid: "u2", lists: "left" } }],
    ])("of a run that %s", async (_, verdict) => {
      await end(verdict);
      t.clock += 1; // the account is no longer throttled
      await t.wake(key, { uid: "u1", resourceVersion: "101", paused: false });
      await expectNone();
    });
    it("after a run that ended without a verdict", async () => {
      await end(leaves("left"));
      await told("a");
      await begin();
      t.clock += lease;
      await expectNone();
    });
    it("to who forced the key", async () => {
      await end(leaves("left"));
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      expect(await given()).toBeUndefined();
      await told("during its run, and forgotten if the force were to forget it");
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      await end(leaves("left"));
      expect(await given()).toBeUndefined();
    });
    it("on another server, also of a run that began on the one before: news may be lost", async () => {
      await end(leaves("left"));
      t.server = "another";
      await t.rung();
      t.clock += settling;
      await expectNone();
      t.server = "a third";
      await t.ledger.renew([{ key, token: `run ${runs}` }]);
      await end(leaves("left"));
      t.clock += settling;
      await expectNone();
      await end(leaves("left"));
      expect(await (told("b"), given())).toEqual({ left: "left", news: ["b"] });
    });
    it("after a run that the data do not tell of, neither its own nor what they tell of", async () => {
      await end(leaves("left"));
      t.server = "another";
      await t.ledger.renew([{ key, token: "elsewhere" }]);
      await t.ledger.settle(key, "elsewhere", leaves("left elsewhere"));
      t.clock += settling;
      await expectNone();
    });
  });
}
