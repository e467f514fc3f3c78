import { describe, expect, it } from "vitest";
import { done, failed, key, type LedgerUnderTest } from "./ledger-under-test.ts";

/** Wakes that wait for further ones. */
export function batchedWakesContract(t: LedgerUnderTest): void {
  const batched = { after: 1_000 };
  const wait = async (): Promise<number> => (await t.inspect(key)).at - t.clock;

  it("makes its key due when its time is over", async () => {
    expect(await t.wake(key, batched)).toEqual([]);
    expect(await t.inspect(key)).toMatchObject({ state: "waits", why: "batch", class: "change" });
    t.clock += 999;
    expect(await t.dispatched()).toEqual([]);
    t.clock += 1;
    expect(await t.dispatched()).toEqual([key]);
    expect(await t.claim(key)).toMatchObject({ reasons: ["Modified"], class: "change" });
  });
  it("waits no longer for later ones, and one run answers all", async () => {
    await t.wake(key, batched);
    t.clock += 600;
    await t.wake(key, { ...batched, reason: "Later" });
    expect(await wait()).toBe(400);
    t.clock += 400;
    expect(await t.begin(key, "t")).toMatchObject({ reasons: ["Modified", "Later"] });
    expect(await t.ledger.settle(key, "t", done)).toMatchObject({ dueIn: undefined, jobs: [] });
  });
  it("does not wait if another wake does not", async () => {
    await t.wake(key, batched);
    expect(await t.wake(key)).toEqual([key]);
  });
  it("does not wait if it is forced", async () => {
    expect(await t.wake(key, batched, true)).toEqual([key]);
  });
  it("ends a longer wait, and no shorter one", async () => {
    await t.wakeAndRun(key, { kind: "done", after: 60_000 });
    await t.wake(key, batched);
    expect(await wait()).toBe(1_000);
    t.clock += 1_000;
    await t.dispatched();
    await t.run(key, { kind: "done", after: 300 });
    await t.wake(key, batched);
    expect(await wait()).toBe(300);
    expect((await t.inspect(key)).why).toBe("again");
  });
  it("does not delay a key that is due", async () => {
    await t.wake(key);
    await t.wake(key, batched);
    expect(await t.refusal(key)).toBe("claimed");
  });
  it("makes a parked key due", async () => {
    await t.wakeAndRun(key, { kind: "terminal", error: "no" });
    await t.wake(key, batched);
    expect(await wait()).toBe(1_000);
  });
  it("counts as the early run of a backoff window, and never ends after it", async () => {
    const window = 999;
    expect(await t.wakeAndRun(key, failed)).toBe(window);
    await t.wake(key, { after: 400 });
    expect(await wait()).toBe(400);
    t.clock += 400;
    await t.dispatched();
    expect(await t.run(key, failed)).toBe(window - 400);
    await t.wake(key, { after: 100 });
    expect(await wait()).toBe(window - 400);
  });

  describe("during a run", () => {
    it.each([
      ["was done", done, 400],
      ["asks for a later run", { kind: "done", after: 5_000 }, 400],
      ["asks for an earlier one", { kind: "wait", after: 100 }, 100],
      ["failed for good", { kind: "terminal", error: "no" }, 400],
      ["found its object gone", { kind: "gone" }, 400],
      ["was interrupted", { kind: "interrupted" }, undefined],
      ["failed", failed, undefined],
    ] as const)(
      "delays the next run, counted from the wake, if this one %s",
      async (_how, outcome, dueIn) => {
        await t.wake(key);
        await t.begin(key, "t");
        await t.wake(key, batched);
        t.clock += 300;
        await t.wake(key, batched);
        t.clock += 300;
        expect(await t.ledger.settle(key, "t", outcome)).toMatchObject({ dueIn });
      },
    );
    it.each([
      ["after", [batched, {}]],
      ["before", [{}, batched]],
    ])("does not delay it if one %s it does not wait", async (_when, all) => {
      await t.wake(key);
      await t.begin(key, "t");
      for (const one of all) await t.wake(key, one);
      const answer = await t.ledger.settle(key, "t", done);
      expect(answer).toMatchObject({ dueIn: undefined, jobs: [{ key }] });
    });
    it("does not delay the run after the next one", async () => {
      await t.wake(key);
      await t.begin(key, "t1");
      await t.wake(key, batched);
      await t.ledger.settle(key, "t1", done);
      t.clock += 1_000;
      await t.begin(key, "t2");
      await t.wake(key);
      expect(await t.ledger.settle(key, "t2", done)).toMatchObject({ jobs: [{ key }] });
    });
    it("does not delay the run after one that died", async () => {
      await t.wake(key);
      await t.begin(key, "t1");
      await t.wake(key, { after: 60_000 });
      t.clock += 6_000;
      await t.begin(key, "t2");
      await t.wake(key, batched);
      expect(await t.ledger.settle(key, "t2", done)).toMatchObject({ dueIn: 1_000 });
    });
  });
}
