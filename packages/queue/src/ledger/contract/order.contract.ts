import { maxListItems } from "../../redis/lua/script-bounds.ts";
import { objectKey, type ObjectKey } from "@drover/controller";
import { describe, expect, it } from "vitest";
import type { WakeClass } from "../../work-queue/work-queue.ts";
import { done, key, keysIn, type LedgerUnderTest, recoveryWindow } from "./ledger-under-test.ts";

/** The order of keys, and what holds them back. */
export function orderContract(t: LedgerUnderTest): void {
  /** Runs dispatched keys one after another until there are none. */
  async function order(most = 1_000): Promise<readonly ObjectKey[]> {
    const ran: ObjectKey[] = [];
    let next = await t.dispatched();
    if (next.length === 0) next = (await t.list("dispatched")).slice(0, 1).map((report) => report.key);
    while (next[0] !== undefined && ran.length < most) {
      const [mine] = next;
      ran.push(mine);
      await t.claim(mine, String(ran.length));
      const answer = await t.ledger.settle(mine, String(ran.length), done);
      next = answer.kind === "settled" ? answer.jobs.map((job) => job.key) : [];
    }
    return ran;
  }
  const wakeAll = async (keys: readonly ObjectKey[], wakeClass: WakeClass = "change"): Promise<void> => {
    for (const each of keys) {
      await t.wake(each, { class: wakeClass });
      t.clock++;
    }
  };

  describe("order", () => {
    it("is first come, first served within a namespace", async () => {
      const keys = keysIn("a", 20).toReversed();
      await wakeAll(keys);
      expect(await order()).toEqual(keys);
    });

    it("puts changes before listings and those before resyncs, but of eight jobs two look for what waits longer", async () => {
      await t.wake(key); // dispatched while it is the only ready key
      await wakeAll(keysIn("a", 16, "resync"), "resync");
      await wakeAll(keysIn("a", 16, "listing"), "listing");
      await wakeAll(keysIn("a", 16, "change"));
      const ran = (await order()).slice(1).map((each) => /\/(\D+)/.exec(each)?.[1]);
      const firstEight = ran.slice(0, 16);
      expect(firstEight.filter((each) => each === "change")).toHaveLength(12);
      expect(firstEight.filter((each) => each === "listing")).toHaveLength(2);
      expect(firstEight.filter((each) => each === "resync")).toHaveLength(2);
      expect(ran).toHaveLength(48);
    });

    it("moves a waiting key up that is woken by something more urgent, and keeps since when it waits", async () => {
      await t.wake(key);
      const [first, second, third] = keysIn("a", 3) as [ObjectKey, ObjectKey, ObjectKey];
      await wakeAll([first, second, third], "listing");
      await t.wake(third);
      await t.wake(first, { class: "resync" }); // less urgent, so it changes nothing
      expect(await order()).toEqual([key, third, first, second]);
    });

    it("lets namespaces take turns: beside 10,000 keys of one, another's starts after one more run", async () => {
      const wakes = keysIn("crowd", 10_000).map(
        (each) =>
          ({ key: each, kind: "buckets", resourceVersion: "1", reason: "Added", class: "change" }) as const,
      );
      for (let i = 0; i < wakes.length; i += maxListItems)
        await t.ledger.wake(wakes.slice(i, i + maxListItems));
      await order(3);
      const lonely = objectKey({ namespace: "other", name: "lonely" });
      await t.wake(lonely);
      const ran = await order(4);
      expect(ran.indexOf(lonely)).toBeGreaterThan(-1);
      expect(ran.indexOf(lonely)).toBeLessThanOrEqual(2); // after the job that was out, and one other at most
    });

    it("gives no namespace two turns while another waits, also one that comes and goes", async () => {
      await wakeAll(keysIn("a", 10));
      await wakeAll(keysIn("b", 1));
      const ran: string[] = [];
      for (let i = 0; i < 10; i++) {
        const [next] = await order(1);
        ran.push(next!.slice(0, 1));
        if (next!.startsWith("b")) await wakeAll(keysIn("b", 1));
      }
      expect(ran.slice(1).join("")).not.toMatch(/aa|bb/);
    });
  });

  describe("pausing", () => {
    const scopes = [
      { kind: "controller" },
      { kind: "namespace", namespace: "default" },
      { kind: "object", key },
    ] as const;
    it.each(scopes)(
      "holds keys that are ready, come later or are dispatched; resuming dispatches them: %j",
      async (scope) => {
        await t.registerWorker({ slots: 10 });
        const [ready, later] = keysIn("default", 2) as [ObjectKey, ObjectKey];
        const mine = scope.kind === "object" ? [key] : [key, ready, later];
        expect(await t.wake(key)).toEqual([key]);
        await t.ledger.pause(scope, "tests");
        expect(await t.ledger.claim(key, "t")).toEqual({ refused: "paused" });
        if (scope.kind !== "object")
          for (const each of [ready, later]) expect(await t.wake(each)).toEqual([]);
        expect(await t.dispatched()).toEqual([]);
        expect(await t.ledger.count()).toMatchObject({ due: 0, oldestDue: 0, paused: mine.length });
        expect(await t.inspect(key)).toMatchObject({
          state: scope.kind === "object" ? "paused" : "ready",
          pauses: [{ scope: scope.kind, by: "tests" }],
        });
        const jobs = await t.ledger.resume(scope);
        expect(jobs.map((job) => job.key).sort()).toEqual([...mine].sort());
        expect(await t.inspect(key)).toMatchObject({ pauses: [] });
      },
    );
    it("is told with who did it and since when, of each scope", async () => {
      const since = t.clock;
      for (const scope of scopes) {
        await t.ledger.pause(scope, `somebody of ${scope.kind}`);
        t.clock += 1;
      }
      await t.ledger.pause({ kind: "object", key: keysIn("default", 1)[0]! }, "another");
      const pauses = async () => (await t.inspect(key)).pauses;
      expect(await pauses()).toEqual([
        { scope: "controller", since, by: "somebody of controller" },
        { scope: "namespace", since: since + 1, by: "somebody of namespace" },
        { scope: "object", since: since + 2, by: "somebody of object" },
      ]);
      await t.ledger.resume({ kind: "namespace", namespace: "default" });
      expect((await pauses()).map(({ scope }) => scope)).toEqual(["controller", "object"]);
    });
    it("of one scope leaves the others alone", async () => {
      await t.registerWorker({ slots: 10 });
      await t.ledger.pause({ kind: "namespace", namespace: "paused" }, "tests");
      await t.ledger.pause({ kind: "object", key }, "tests");
      await t.wake(key);
      for (const each of keysIn("paused", 3)) await t.wake(each);
      const other = objectKey({ namespace: "default", name: "other" });
      expect(await t.wake(other)).toEqual([other]);
    });
    it("lets a run under way end, and its key stays due", async () => {
      await t.wakeAndClaim(key, "t");
      await t.ledger.pause({ kind: "controller" }, "tests");
      await t.wake(key);
      expect(await t.ledger.settle(key, "t", done)).toMatchObject({ kind: "settled", jobs: [] });
      expect(await t.ledger.count()).toMatchObject({ due: 0, paused: 1 });
    });
    it("holds back what is forced", async () => {
      await t.ledger.pause({ kind: "object", key }, "tests");
      const wake = { key, kind: "k", resourceVersion: "1", reason: "Forced", class: "change" } as const;
      expect(await t.ledger.wake([wake], true)).toEqual([]);
    });
  });

  describe("force", () => {
    const force = () =>
      t.ledger.wake([{ key, kind: "force", resourceVersion: "0", reason: "Forced", class: "change" }], true);
    it("runs a key that waits, backs off for the second time, or is parked", async () => {
      await t.wakeAndRun(key, { kind: "retry", error: "no" });
      await t.wakeAndRun(key, { kind: "retry", error: "no" });
      expect(await t.wake(key)).toEqual([]);
      expect(await force()).toMatchObject([{ key }]);
      await t.run(key, { kind: "terminal", error: "no" });
      expect(await force()).toMatchObject([{ key }]);
    });
    it("of a running key runs it again at once, though it fails and its window was pierced before", async () => {
      await t.wakeAndRun(key, { kind: "retry", error: "no" });
      await t.wakeAndClaim(key, "t");
      await force();
      expect(await t.ledger.settle(key, "t", { kind: "retry", error: "no" })).toMatchObject({
        jobs: [{ key }],
      });
    });
  });

  describe("limits", () => {
    const rate = { perSecond: 10, burst: 2 };
    it("let a burst start, then one key per interval, for the whole controller", async () => {
      await t.registerWorker({ slots: 10, runs: rate });
      const keys = keysIn("a", 4);
      const dispatched: ObjectKey[] = [];
      for (const each of keys) dispatched.push(...(await t.wake(each)));
      expect(dispatched).toHaveLength(2);
      expect(await t.ledger.dispatch()).toMatchObject({ jobs: [], next: 100 });
      t.clock += 100;
      expect(await t.dispatched()).toHaveLength(1);
      t.clock += 100;
      expect(await t.dispatched()).toHaveLength(1);
    });
    it("hold nothing back for longer than they say, though the clock goes back or a rate is raised", async () => {
      await t.registerWorker({ slots: 10, runs: { perSecond: 0.001, burst: 1 } });
      const [first, ...others] = keysIn("a", 3);
      expect(await t.wake(first!)).toEqual([first]);
      t.clock -= 600_000;
      await t.registerWorker({ slots: 10, runs: { perSecond: 0.001, burst: 1 } });
      for (const other of others) await t.wake(other);
      expect(await t.ledger.dispatch()).toEqual({ jobs: [], next: 1_000_000 });
      await t.registerWorker({ slots: 10, runs: { perSecond: 1_000, burst: 1 } });
      t.clock += 1;
      expect(await t.dispatched()).toHaveLength(1);
    });
    it("that nobody asks for any more hold nothing back", async () => {
      await t.registerWorker({ slots: 10, runs: rate, accounts: { aws: rate } });
      await t.registerWorker({ slots: 10 });
      const keys = keysIn("a", 4);
      for (const each of keys) expect(await t.wake(each)).toEqual([each]);
      for (const each of keys) await t.run(each, { kind: "done", account: "aws" });
      for (const each of keys) expect(await t.wake(each)).toEqual([each]);
    });
    it("of an account hold its keys back and nobody else's", async () => {
      await t.registerWorker({ slots: 10, accounts: { aws: rate } });
      const keys = keysIn("a", 4);
      for (const each of keys) await t.wake(each);
      for (const each of keys) await t.run(each, { kind: "done", account: "aws" });
      const dispatched: ObjectKey[] = [];
      for (const each of keys) dispatched.push(...(await t.wake(each)));
      expect(dispatched).toHaveLength(2);
      expect(await t.wake(key)).toEqual([key]);
      t.clock += 100;
      expect(await t.dispatched()).toHaveLength(1);
    });
    it("throttled closes the account until then, woken or not, and is no failure", async () => {
      await t.registerWorker({ slots: 10 });
      const [first, second] = keysIn("a", 2) as [ObjectKey, ObjectKey];
      for (const each of [first, second]) await t.wake(each);
      await t.run(second, { kind: "done", account: "aws" });
      await t.wake(second);
      expect(await t.run(first, { kind: "throttled", account: "aws", after: 5_000 })).toBeUndefined();
      expect(await t.ledger.claim(second, "t")).toEqual({ refused: "throttled" }); // although its job was out
      expect(await t.wake(second)).toEqual([]);
      expect(await t.wake(first)).toEqual([]);
      expect(await t.wake(key)).toEqual([key]);
      expect(await t.inspect(second)).toMatchObject({
        account: "aws",
        accountOpens: t.clock + 5_000,
      });
      expect(await t.ledger.dispatch()).toMatchObject({ next: 5_000 });
      t.clock += 5_000;
      expect([...(await t.dispatched())].sort()).toEqual([first, second]);
      expect((await t.claim(first)).fails).toBe(0);
    });
    it("the shorter of two waits for one account does not open it", async () => {
      await t.registerWorker({ slots: 10 });
      for (const each of [key, ...keysIn("a", 1)]) await t.wake(each);
      await t.run(key, { kind: "throttled", account: "aws", after: 5_000 });
      await t.run(keysIn("a", 1)[0]!, { kind: "throttled", account: "aws", after: 1_000 });
      t.clock += 1_000;
      expect(await t.dispatched()).toEqual([]);
    });
  });

  describe("workers", () => {
    it("bring their slots, and take them away when they go or are not heard of", async () => {
      await t.registerWorker({ slots: 2, lasts: 5_000 });
      await t.registerWorker({ worker: "w2", slots: 3, lasts: 8_000 });
      const keys = keysIn("a", 20);
      await wakeAll(keys);
      expect(await t.list("dispatched")).toHaveLength(5);
      t.clock += 5_000;
      await t.registerWorker({ worker: "w2", slots: 3, lasts: 8_000 });
      for (const each of keys.slice(0, 5)) await t.run(each, done);
      expect(await t.list("dispatched")).toHaveLength(3);
      await t.registerWorker({ worker: "w2", slots: 0 });
      for (const each of keys.slice(5, 8)) await t.run(each, done);
      expect(await t.list("dispatched")).toHaveLength(1); // one job, for the first worker to come
    });
    it("of an older version do not get a key back that a newer one ran, while a newer one is alive", async () => {
      await t.registerWorker({ worker: "old", version: 1, lasts: 5_000 });
      await t.registerWorker({ worker: "new", version: 2, lasts: 5_000 });
      await t.wake(key);
      expect(await t.ledger.claim(key, "t1", 2)).toMatchObject({ claimed: {} });
      await t.ledger.settle(key, "t1", done);
      await t.wake(key);
      expect(await t.ledger.claim(key, "t2", 1)).toEqual({ refused: "outdated" });
      t.clock += 100;
      expect(await t.dispatched()).toEqual([key]);
      expect(await t.ledger.claim(key, "t3", 2)).toMatchObject({ claimed: {} });
      await t.ledger.settle(key, "t3", done);
      t.clock += 5_000; // rolled back: the newer ones are gone
      await t.registerWorker({ worker: "old", version: 1 });
      await t.wake(key);
      expect(await t.ledger.claim(key, "t4", 1)).toMatchObject({ claimed: {} });
    });
    it("of the newest version say how failures are retried", async () => {
      await t.registerWorker({ version: 2, backoff: { first: 100, longest: 100, attempts: 2 } });
      await t.registerWorker({ worker: "old", version: 1, backoff: { first: 9_000, longest: 9_000 } });
      await t.wake(key);
      expect(await t.run(key, { kind: "retry", error: "no" })).toBe(99);
      t.clock += 100;
      await t.dispatched();
      await t.run(key, { kind: "retry", error: "still no" });
      expect(await t.inspect(key)).toMatchObject({
        state: "parked",
        fails: 2,
        error: "still no",
      });
      await t.wake(key);
      expect((await t.claim(key)).fails).toBe(2);
    });
    it("do not give up a key that was heard of while its last attempt ran", async () => {
      await t.registerWorker({ backoff: { first: 100, longest: 100, attempts: 1 } });
      await t.wake(key);
      const failWhenHeardOf = async (token: string) => {
        await t.claim(key, token);
        await t.wake(key);
        await t.ledger.settle(key, token, { kind: "retry", error: "no" });
        return await t.inspect(key);
      };
      expect(await failWhenHeardOf("t1")).toMatchObject({ state: "dispatched", fails: 1 }); // runs early in the window
      expect(await failWhenHeardOf("t2")).toMatchObject({ state: "waits", why: "backoff" });
      t.clock += 100;
      await t.dispatched();
      await t.run(key, { kind: "retry", error: "no" });
      expect(await t.inspect(key)).toMatchObject({ state: "parked", fails: 2 });
    });
    it("of the newest version that is here say how failures are retried, also after a newer one was", async () => {
      await t.registerWorker({ worker: "newer", version: 7, backoff: { first: 9_000, longest: 9_000 } });
      await t.registerWorker({ worker: "newer", slots: 0 });
      await t.registerWorker({ worker: "anew", version: 1, backoff: { first: 100, longest: 100 } });
      await t.wake(key);
      expect(await t.run(key, { kind: "retry", error: "no" })).toBe(99);
    });
  });

  it("keeps the last ten runs of a key, and why it waits", async () => {
    for (let i = 1; i <= 12; i++) {
      await t.wake(key, { reason: `r${i}`, trace: "00-ab-cd-01" });
      const { reasons, trace } = await t.claim(key, `t${i}`);
      const past = {
        trigger: reasons,
        duration: i,
        verdict: "retry",
        trace,
      } as const;
      await t.ledger.settle(key, `t${i}`, { kind: "retry", error: `e${i}` }, past);
      t.clock += 10_000;
    }
    const { key: report, runs } = await t.ledger.inspect(key);
    expect(runs.map((run) => run.duration)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    // The end time is by the ledger's clock, not by the worker's.
    const at = new Date(t.clock - 10_000).toISOString();
    expect(runs[0]).toMatchObject({ at, trigger: ["r12"], trace: "00-ab-cd-01" });
    expect(report).toMatchObject({ state: "waits", why: "backoff", error: "e12", fails: 12 });
  });

  it("lists what is in a state, page by page", async () => {
    const keys = keysIn("a", 5);
    for (const each of keys) {
      await t.wake(each);
      t.clock++;
    }
    const first = await t.ledger.list("ready", 2);
    expect(first.keys).toMatchObject([
      { key: keys[1], at: 1_000_000 + recoveryWindow + 1, reasons: ["Modified"] },
      { key: keys[2] },
    ]);
    const second = await t.ledger.list("ready", 2, first.next);
    expect(second).toMatchObject({ keys: [{ key: keys[3] }, { key: keys[4] }] });
    expect(await t.ledger.list("ready", 2, second.next)).toEqual({ keys: [], next: undefined });
    expect(await t.ledger.inspect(key)).toMatchObject({ key: { state: "unknown", fails: 0 }, runs: [] });
  });

  it("lists all pages, also where more is asked for than a page takes", async () => {
    const keys = keysIn("a", 1_500);
    await t.ledger.pause({ kind: "controller" }, "tests");
    await wakeAll(keys);
    const first = await t.ledger.list("ready", 5_000);
    const second = await t.ledger.list("ready", 5_000, first.next);
    expect([...first.keys, ...second.keys].map((report) => report.key).sort()).toEqual(keys.toSorted());
    expect(second.next).toBeUndefined();
  });

  it("a page begins behind the last one, also where its keys have left since or are of one time", async () => {
    const keys = keysIn("a", 9);
    for (const each of keys) await t.run(each, { kind: "terminal", error: "no" });
    const page = async (after?: string) => {
      const { keys: found, next } = await t.ledger.list("parked", 3, after);
      return { found: found.map((report) => report.key), next };
    };
    const first = await page();
    const second = await page(first.next);
    expect([first.found, second.found]).toEqual([keys.slice(0, 3), keys.slice(3, 6)]);
    // A caller that wakes the keys of a page continues with the remaining ones.
    for (const each of first.found) await t.wake(each);
    const again = await page(first.next);
    expect(again.found).toEqual(keys.slice(3, 6));
    expect((await page(again.next)).found).toEqual(keys.slice(6));
  });

  it("lists what fails, since it began to, wherever it stands", async () => {
    await t.registerWorker({ slots: 10, backoff: { first: 1_000, longest: 8_000, attempts: 2 } });
    const [parked, waits, well] = keysIn("a", 3) as [ObjectKey, ObjectKey, ObjectKey];
    for (const each of [parked, waits]) await t.run(each, { kind: "retry", error: "no" });
    t.clock += 1_000;
    await t.dispatched();
    await t.run(parked, { kind: "retry", error: "still no" });
    await t.run(well, done);
    expect(await t.list("failing")).toMatchObject([
      { key: parked, state: "parked", fails: 2, error: "still no" },
      { key: waits, state: "dispatched", at: t.clock, fails: 1 },
    ]);
    await t.run(waits, done);
    expect((await t.list("failing")).map((report) => report.key)).toEqual([parked]);
  });
}
