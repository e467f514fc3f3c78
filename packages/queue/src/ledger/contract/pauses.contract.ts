import type { ObjectKey } from "@drover/controller";
import { describe, expect, it } from "vitest";
import type { RunOutcome } from "../../work-queue/work-queue.ts";
import { done, failed, key, keysIn, type LedgerUnderTest } from "./ledger-under-test.ts";

/** Objects that are paused by their annotation, and pauses in general. */
export function pausesContract(t: LedgerUnderTest): void {
  const own = (resourceVersion: string, paused?: boolean) => ({
    uid: "u1",
    resourceVersion,
    ...(paused !== undefined && { paused }),
  });
  const state = async (of: ObjectKey = key) => (await t.inspect(of)).state;
  const paused = (resourceVersion: string): RunOutcome => ({
    kind: "paused",
    observed: { kind: "buckets", uid: "u1", resourceVersion },
  });

  it("holds a key back whose object says so, however it came to be due, and lets it go when it says so no more", async () => {
    expect(await t.wake(key, own("1", true))).toEqual([]);
    expect(await t.inspect(key)).toMatchObject({
      state: "paused",
      at: t.clock,
      pauses: [{ scope: "annotation", since: t.clock, by: "" }],
    });
    expect(await t.refusal(key)).toBe("paused");
    expect(await t.dispatched()).toEqual([]);
    expect(await t.wake(key, { kind: "pods", resourceVersion: "9" }, true)).toEqual([]);
    t.clock += 60_000;
    expect(await t.ledger.count()).toMatchObject({ due: 0, oldestDue: 0, paused: 1 });
    expect(await t.wake(key, own("2", false))).toEqual([key]);
    // It is due since it was resumed: the time of its pause does not count as late.
    expect(await t.ledger.count()).toMatchObject({ due: 1, oldestDue: 0, paused: 0 });
    expect((await t.claim(key)).reasons).toEqual(["Modified"]);
  });

  it.each(["dispatched", "ready"])("takes a key back that is %s", async (at) => {
    const [before] = keysIn("a", 1) as [ObjectKey];
    if (at === "ready") await t.wake(before);
    await t.wake(key, own("1"));
    expect(await state()).toBe(at);
    await t.wake(key, own("2", true));
    expect(await state()).toBe("paused");
    expect(await t.refusal(key)).toBe("paused");
    expect((await t.list("paused")).map((report) => report.key)).toEqual([key]);
  });

  it("keeps a key whose time comes, or whose backoff ends, until it is resumed", async () => {
    const [again] = keysIn("a", 1) as [ObjectKey];
    await t.registerWorker({ slots: 2 });
    for (const [each, outcome] of [
      [key, failed],
      [again, { kind: "done", after: 1_000 }],
    ] as const) {
      await t.wake(each, own("1"));
      const token = `t of ${each}`;
      await t.claim(each, token);
      await t.wake(each, own("2", true));
      await t.wake(each, { kind: "pods", resourceVersion: "1" });
      await t.ledger.settle(each, token, outcome);
      expect(await state(each)).toBe("paused");
    }
    const [waits] = keysIn("b", 1) as [ObjectKey];
    await t.wakeAndRun(waits, { kind: "done", after: 1_000 }, own("1"));
    await t.ledger.pause({ kind: "object", key: waits }, "tests");
    t.clock += 1_000;
    // The count is also right before the dispatcher has run.
    expect(await t.ledger.count()).toMatchObject({ due: 0, oldestDue: 0, paused: 3 });
    expect(await t.dispatched()).toEqual([]);
    expect(await state(waits)).toBe("paused");
  });

  it("believes no pause of an older version, and ends one for whatever version", async () => {
    await t.wake(key, own("5"));
    await t.wake(key, own("4", true));
    expect(await state()).toBe("dispatched");
    await t.wake(key, own("6", true));
    // etcd may have been restored: the run reads the annotation.
    expect(await t.wake(key, own("3", false))).toEqual([]);
    expect(await state()).toBe("dispatched");
  });

  it("is due since it was resumed, behind those that were ready before", async () => {
    const [before] = keysIn("a", 1) as [ObjectKey];
    await t.wake(key, own("1", true));
    t.clock += 500;
    await t.wake(before);
    t.clock += 500;
    await t.wake(key, own("2", false));
    expect(await t.inspect(key)).toMatchObject({ state: "ready", at: t.clock });
    await t.ledger.pause({ kind: "object", key }, "tests");
    t.clock += 500;
    await t.ledger.resume({ kind: "object", key });
    expect(await t.inspect(key)).toMatchObject({ state: "ready", at: t.clock });
  });

  it("keeps a pause where a wake does not say", async () => {
    await t.wake(key, own("1", true));
    await t.wake(key, own("2"));
    expect(await state()).toBe("paused");
  });

  it("is another object's no more", async () => {
    await t.wake(key, own("1", true));
    expect(await t.wake(key, { uid: "u2", resourceVersion: "2", paused: false })).toEqual([key]);
  });

  it("takes a run's word that its object is paused, though no wake said so", async () => {
    await t.wakeAndRun(key, paused("7"), { kind: "pods", resourceVersion: "1" });
    expect(await t.inspect(key)).toMatchObject({
      state: "paused",
      fails: 0,
      pauses: [{ scope: "annotation" }],
    });
    expect(await t.wake(key, own("8", false))).toEqual([key]);
  });

  it("takes no run's word for an object that has changed since, or of another one", async () => {
    await t.wakeAndClaim(key, "t1", own("1"));
    await t.wake(key, own("3", false));
    await t.ledger.settle(key, "t1", paused("2"));
    expect(await state()).toBe("dispatched");
    await t.claim(key, "t2");
    await t.ledger.settle(key, "t2", {
      kind: "paused",
      observed: { kind: "buckets", uid: "u0", resourceVersion: "9" },
    });
    expect(await state()).toBe("dispatched");
  });

  it("leaves failures as they are", async () => {
    await t.wakeAndRun(key, failed, own("1"));
    await t.wakeAndRun(key, paused("2"), own("2"));
    expect(await t.inspect(key)).toMatchObject({ state: "paused", fails: 1, error: "no" });
  });

  it("keeps no cached object for a key that is paused", async () => {
    const [other] = keysIn("a", 1) as [ObjectKey];
    await t.registerWorker({ slots: 2 });
    for (const [each, isPaused] of [
      [key, true],
      [other, false],
    ] as const) {
      await t.wake(each, own("1"));
      const token = `t of ${each}`;
      await t.claim(each, token);
      const observed = { kind: "buckets", uid: "u1", resourceVersion: "1" };
      await t.ledger.settle(each, token, { kind: "done", observed });
      if (isPaused) await t.ledger.pause({ kind: "object", key: each }, "tests");
      await t.wake(each, { ...own("2"), cachedObject: "{}" });
      if (isPaused) await t.ledger.resume({ kind: "object", key: each });
      expect((await t.claim(each)).cachedObject).toBe(isPaused ? undefined : "{}");
    }
  });

  it("is not among those that a campaign waits for, once it is due", async () => {
    const [idle] = keysIn("a", 1) as [ObjectKey];
    await t.wake(key, own("1", true));
    expect((await t.ledger.notRunSince([key, idle], t.clock)).keys).toEqual([idle]);
    await t.wake(key, own("2", false));
    expect((await t.ledger.notRunSince([key, idle], t.clock)).keys).toEqual([key, idle]);
  });

  it("of one scope is the last one's who asked for it", async () => {
    for (const by of ["one", "another"]) {
      t.clock += 10;
      await t.ledger.pause({ kind: "object", key }, by);
    }
    const pauses = [{ scope: "object", since: t.clock, by: "another" }];
    expect(await t.inspect(key)).toMatchObject({ pauses });
  });

  describe("how much is due", () => {
    it("does not count a paused namespace, nor how long its keys wait", async () => {
      await t.registerWorker({ slots: 10 });
      await t.ledger.pause({ kind: "namespace", namespace: "held" }, "tests");
      for (const each of keysIn("held", 3)) await t.wake(each);
      t.clock += 50_000;
      const [other] = keysIn("free", 1) as [ObjectKey];
      await t.registerWorker({ slots: 0 });
      await t.registerWorker({ slots: 1 });
      await t.wake(other);
      t.clock += 7;
      expect(await t.ledger.count()).toMatchObject({ due: 1, oldestDue: 7, paused: 3 });
      await t.ledger.resume({ kind: "namespace", namespace: "held" });
      expect(await t.ledger.count()).toMatchObject({ due: 4, oldestDue: 50_007, paused: 0 });
    });
    it("says how long a key waits behind an account that is closed, also beside a paused namespace", async () => {
      await t.registerWorker({ slots: 10 });
      const [throttled, held] = [...keysIn("free", 1), ...keysIn("held", 1)] as [ObjectKey, ObjectKey];
      await t.wakeAndRun(throttled, { kind: "throttled", account: "aws", after: 60_000 });
      await t.dispatched();
      await t.ledger.pause({ kind: "namespace", namespace: "held" }, "tests");
      t.clock += 30_000;
      await t.wake(held);
      expect(await t.ledger.count()).toMatchObject({ due: 1, oldestDue: 30_000, paused: 1 });
    });
    it("does not count anything while all is paused, but what runs", async () => {
      await t.registerWorker({ slots: 2 });
      const [other] = keysIn("a", 1) as [ObjectKey];
      await t.wakeAndClaim(key, "t");
      await t.wake(other);
      await t.ledger.pause({ kind: "controller" }, "tests");
      t.clock += 5_000;
      expect(await t.ledger.count()).toMatchObject({
        due: 0,
        oldestDue: 0,
        running: 1,
        paused: 1,
        allPaused: true,
      });
      await t.ledger.settle(key, "t", done);
    });
  });
}
