import { describe, expect, it } from "vitest";
import type { Claim, RunOutcome, Wake } from "../../work-queue/work-queue.ts";
import {
  done,
  failed,
  key,
  keysIn,
  lease,
  type LedgerUnderTest,
  recoveryWindow,
} from "./ledger-under-test.ts";

/** State that a run must not inherit from the previous one, which failed, died or ran on another server. */
export function nextRunsContract(t: LedgerUnderTest): void {
  const begin = (token: string): Promise<Claim> => t.begin(key, token);

  describe("the run after one that died", () => {
    it("answers a force that came during that one: the key does not run a third time", async () => {
      await t.wake(key);
      await begin("t1");
      await t.wake(key, {}, true);
      t.clock += lease;
      await begin("t2");
      expect(await t.ledger.settle(key, "t2", done)).toMatchObject({ jobs: [], dueIn: undefined });
      expect((await t.inspect(key)).state).toBe("idle");
    });
    it("counts its failure against the object that it saw itself", async () => {
      await t.wake(key, { uid: "u1" });
      await begin("t1");
      t.clock += lease;
      await t.dispatched();
      await t.wake(key, { uid: "u2" });
      await begin("t2");
      await t.wake(key, { uid: "u2" });
      await t.ledger.settle(key, "t2", failed);
      expect((await t.inspect(key)).fails).toBe(1);
    });
    it("begins at once where that one announced itself: more may have been heard than is known", async () => {
      await t.wakeAndRun(key, failed); // a lease that ends now starts a backoff window
      t.clock += lease;
      await t.dispatched();
      const failOver = await t.backup();
      await t.claim(key, "t");
      await t.wake(key);
      await failOver();
      expect((await t.ledger.renew([{ key, token: "t" }])).lost).toEqual([]);
      t.clock += recoveryWindow + lease;
      expect(await t.dispatched()).toEqual([key]);
    });
  });

  it("is forced of every key that a call names", async () => {
    const keys = keysIn("a", 3);
    await t.registerWorker({ slots: 3 });
    for (const each of keys) {
      await t.wakeAndRun(each, { kind: "terminal", error: "no" });
    }
    const wakes = keys.map((each): Wake => ({
      key: each,
      kind: "force",
      resourceVersion: "0",
      reason: "Forced",
      class: "resync",
    }));
    expect((await t.ledger.wake(wakes, true)).map((job) => job.key)).toEqual(keys);
  });
  it("is told of eight reasons at most, the first ones, and of each once", async () => {
    const reasons = Array.from({ length: 12 }, (_, i) => `r${i}`);
    for (const reason of [...reasons, ...reasons]) await t.wake(key, { reason });
    expect((await t.claim(key, "t")).reasons).toEqual(reasons.slice(0, 8));
  });
  it("conflicts that became a failure are counted anew", async () => {
    await t.wake(key);
    for (let i = 0; i < 9; i++) t.clock += (await conflict(`t${i}`)) ?? 0;
    expect((await t.inspect(key)).fails).toBe(1);
    expect(await conflict("next")).toBe(19);
  });
  it.each<RunOutcome>([done, { kind: "wait", after: 1 }, failed, { kind: "interrupted" }])(
    "conflicts before a run that ended otherwise do not count: %j",
    async (outcome) => {
      await t.wake(key);
      for (let i = 0; i < 5; i++) t.clock += (await conflict(`t${i}`)) ?? 0;
      await begin("otherwise");
      await t.ledger.settle(key, "otherwise", outcome);
      t.clock += lease;
      await t.wake(key);
      expect(await conflict("next")).toBe(19);
    },
  );
  it("conflicts of an object that was made anew since do not count", async () => {
    await t.wake(key, { uid: "u1" });
    for (let i = 0; i < 5; i++) t.clock += (await conflict(`t${i}`)) ?? 0;
    await t.wake(key, { uid: "u2" });
    expect(await conflict("next")).toBe(19);
  });
  const conflict = async (token: string): Promise<number | undefined> => {
    await begin(token);
    const answer = await t.ledger.settle(key, token, { kind: "conflict" });
    return answer.kind === "stale" ? expect.fail("stale") : answer.dueIn;
  };
}
