import { objectKey, type ObjectKey } from "@drover/controller";
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { ClaimJob } from "../../worker/job-queue.ts";
import type { Claim, RunOutcome, Wake } from "../../work-queue/work-queue.ts";
import { failed, key, lease, type LedgerUnderTest } from "./ledger-under-test.ts";

/** One key from wake to outcome: what its wakes record, which run gets it, and when it runs again. */
export function runsContract(t: LedgerUnderTest): void {
  beforeEach(() => t.registerWorker({ slots: 2 }));

  const wake = ({ key: of = key, ...fields }: Partial<Wake> = {}): Promise<readonly ClaimJob[]> =>
    t.wakeForJobs(of, fields);
  const claim = (token: string, of = key): Promise<Claim> => t.begin(of, token);
  /** The reason for which the key cannot be claimed now; "claimed" if it was. */
  const refusal = async (): Promise<string> => {
    await t.ledger.dispatch();
    return t.refusal(key);
  };
  const run = async (outcome: RunOutcome): Promise<number | undefined> => {
    await t.ledger.dispatch();
    return t.run(key, outcome);
  };

  describe("a wake", () => {
    it("adds one job, and no second one while the first waits", async () => {
      expect(await wake()).toHaveLength(1);
      expect(await wake()).toHaveLength(0);
    });
    it("is told to the claimer: reasons, class, uid and the highest version per kind", async () => {
      await wake({ reason: "Added", class: "listing", uid: "u1", resourceVersion: "99" });
      await wake({ reason: "Modified", resourceVersion: "100" });
      await wake({ reason: "PodModified", kind: "pods", resourceVersion: "7" });
      await wake({ reason: "Modified", resourceVersion: "98" });
      expect(await claim("t1")).toEqual({
        fails: 0,
        reasons: ["Added", "Modified", "PodModified"],
        class: "change",
        uid: "u1",
        versions: { buckets: "100", pods: "7" },
      });
    });
    it("that is less urgent does not make the key less urgent", async () => {
      await wake();
      await wake({ class: "listing" });
      expect((await claim("t1")).class).toBe("change");
    });
    it("during a run of a worker that dies is answered by the run that takes over", async () => {
      await t.wakeAndClaim(key, "t1");
      await wake();
      t.clock += lease;
      expect((await t.ledger.dispatch()).jobs).toMatchObject([{ key }]);
    });
    it("pierces every wait, not only the first", async () => {
      await wake();
      for (let i = 0; i < 3; i++) {
        await run({ kind: "wait", after: 60_000 });
        expect(await wake()).toHaveLength(1);
      }
    });
    it("of another uid tells which one was replaced, until a run succeeds", async () => {
      await t.wakeAndRun(key, { kind: "done" }, { uid: "old" });
      await wake({ uid: "new" });
      expect((await claim("t1")).replaced).toBe("old");
      await t.ledger.settle(key, "t1", failed);
      await wake();
      expect((await claim("t2")).replaced).toBe("old");
      await t.ledger.settle(key, "t2", { kind: "done" });
      await wake();
      expect((await claim("t3")).replaced).toBeUndefined();
    });
    it("of several uids in a row tells the one that a run has seen, not those between", async () => {
      await t.wakeAndRun(key, { kind: "done" }, { uid: "seen" });
      await wake({ uid: "between" });
      await wake({ uid: "new" });
      expect(await claim("t1")).toMatchObject({ uid: "new", replaced: "seen" });
    });
    it("is told to one claimer only: the next one hears what came since", async () => {
      await wake({ reason: "Added", class: "resync" });
      await t.wakeAndClaim(key, "t1", { reason: "Added", class: "listing" });
      await wake({ reason: "Deleted", class: "listing" });
      await t.ledger.settle(key, "t1", { kind: "done" });
      expect(await claim("t2")).toMatchObject({ reasons: ["Deleted"], class: "listing" });
    });
    it("of a kind whose versions are no numbers keeps the last one heard of", async () => {
      await wake({ resourceVersion: "zebra" });
      await wake({ resourceVersion: "ant" });
      expect((await claim("t1")).versions).toEqual({ buckets: "ant" });
    });
    it("pierces requeueAfter", async () => {
      await t.wakeAndRun(key, { kind: "done", after: 60_000 });
      expect(await refusal()).toBe("waiting");
      expect(await wake()).toHaveLength(1);
      expect(await refusal()).toBe("claimed");
    });
    it("that comes during a run makes the key due when the run ends, whatever the outcome", async () => {
      const outcomes: RunOutcome[] = [
        { kind: "done" },
        { kind: "done", after: 60_000 },
        failed,
        { kind: "gone" },
      ];
      for (const outcome of [...outcomes, { kind: "terminal", error: "no" } as const]) {
        const other = objectKey({ name: randomUUID() });
        await wake({ key: other });
        await claim("t", other);
        expect(await wake({ key: other })).toHaveLength(0);
        expect(await t.ledger.settle(other, "t", outcome)).toMatchObject({ jobs: [{ key: other }] });
        await t.ledger.claim(other, "t2");
        await t.ledger.settle(other, "t2", { kind: "gone" });
      }
    });
    it("of another uid starts the key afresh, unless it is older than what is known", async () => {
      await t.wakeAndRun(key, failed, { uid: "old", resourceVersion: "500" });
      await wake({ uid: "older", resourceVersion: "400" });
      expect((await claim("t1")).fails).toBe(1);
      await t.ledger.settle(key, "t1", failed);
      await wake({ uid: "new", resourceVersion: "600" });
      expect(await claim("t2")).toMatchObject({ fails: 0, uid: "new" });
    });
  });

  describe("a resync", () => {
    it("wakes an idle key", async () => {
      expect(await wake({ class: "resync", reason: "Resync" })).toHaveLength(1);
    });
    it("pierces neither backoff nor requeueAfter, and does not wake a parked key", async () => {
      for (const outcome of [
        failed,
        { kind: "done", after: 9_000 },
        { kind: "terminal", error: "no" },
      ] as const) {
        await t.wakeAndRun(key, outcome);
        expect(await wake({ class: "resync" })).toHaveLength(0);
        expect(await refusal()).toMatch(/waiting|parked/);
        t.clock += 20_000;
      }
    });
  });

  describe("a claim", () => {
    it("holds: another token is refused until the lease ends", async () => {
      await t.wakeAndClaim(key, "t1");
      expect(await refusal()).toBe("leased");
      t.clock += lease;
      expect(await refusal()).toBe("claimed");
    });
    it("by the same token again gets the same answer, as after a lost reply", async () => {
      await wake({ reason: "Added" });
      const first = await claim("t1");
      expect(await claim("t1")).toEqual(first);
    });
    it("of a key that the ledger does not know is granted: the run reads live", async () => {
      expect(await claim("t1")).toMatchObject({ fails: 0, reasons: [] });
    });
    it("of a key with nothing due is refused", async () => {
      await t.wakeAndRun(key, { kind: "done" });
      expect(await refusal()).toBe("nothing due");
    });
    it("by a job that came before the key's turn is refused", async () => {
      await t.registerWorker({ slots: 1 });
      await wake({ key: objectKey({ name: "first" }) });
      expect(await wake()).toHaveLength(0);
      expect(await t.ledger.claim(key, "t1")).toEqual({ refused: "not its turn" });
    });
    it("holds for one lease from now at most where the clock went back", async () => {
      await t.wakeAndClaim(key, "t1");
      t.clock -= 600_000;
      expect(await t.ledger.claim(key, "t2")).toEqual({ refused: "leased" });
      t.clock += lease;
      expect(await t.ledger.claim(key, "t2")).not.toEqual({ refused: "leased" });
    });
    it("lasts for as long as it is renewed, and not by another token", async () => {
      await t.wakeAndClaim(key, "t1");
      t.clock += lease - 1;
      expect((await t.ledger.renew([{ key, token: "t2" }])).lost).toEqual(["t2"]);
      expect(await t.ledger.renew([{ key, token: "t1" }])).toMatchObject({ lost: [], announced: [] });
      t.clock += lease - 1;
      expect(await refusal()).toBe("leased");
      t.clock += 1;
      expect((await t.ledger.renew([{ key, token: "t1" }])).lost).toEqual(["t1"]);
    });
  });

  it("knows of which keys no run was started since a time", async () => {
    const never = objectKey({ namespace: "a", name: "never" });
    const { now: before, keys: both } = await t.ledger.notRunSince([key, never], 0);
    expect(both).toEqual([key, never]);
    await t.wakeAndClaim(key, "t1");
    expect((await t.ledger.notRunSince([key, never], before)).keys).toEqual([never]);
    t.clock += 10;
    const { now } = await t.ledger.notRunSince([], 0);
    expect((await t.ledger.notRunSince([key], now)).keys).toEqual([key]);
    await t.ledger.settle(key, "t1", { kind: "done" });
    expect((await t.ledger.notRunSince([key], now)).keys).toEqual([key]);
    expect((await t.ledger.notRunSince([key], before)).keys).toEqual([]);
    // A run that started exactly at that time counts.
    expect((await t.ledger.notRunSince([key], now - 10)).keys).toEqual([]);
  });

  it("knows it in whichever state a key is: a campaign has not ended for who waits or is parked", async () => {
    const states = ["waits", "parked", "ready", "dispatched", "idle"] as const;
    const keys = states.map((name) => objectKey({ namespace: "s", name }));
    const [waits, parked, ready, dispatched, idle] = keys as [
      ObjectKey,
      ObjectKey,
      ObjectKey,
      ObjectKey,
      ObjectKey,
    ];
    for (const [of, outcome] of [
      [waits, { kind: "wait", after: 60_000 }],
      [parked, { kind: "terminal", error: "no" }],
      [idle, { kind: "done" }],
    ] as const) {
      await wake({ key: of });
      await t.run(of, outcome);
    }
    await t.registerWorker({ slots: 1 });
    await wake({ key: dispatched });
    await wake({ key: ready });
    for (const [i, of] of keys.entries()) expect((await t.inspect(of)).state).toBe(states[i]);
    t.clock += 10;
    expect((await t.ledger.notRunSince(keys, t.clock)).keys).toEqual(keys);
    await t.claim(dispatched, "t2");
    expect((await t.ledger.notRunSince(keys, t.clock)).keys).toEqual(keys.filter((of) => of !== dispatched));
    await t.registerWorker({ slots: 9 });
    await wake({ key: idle });
    await t.claim(idle, "t3");
    expect((await t.ledger.notRunSince([dispatched, idle], t.clock)).keys).toEqual([]);
  });

  it("says when a timer ends: nobody need look before", async () => {
    const [soon, late] = [objectKey({ name: "soon" }), objectKey({ name: "late" })];
    for (const [of, after] of [
      [late, 5_000],
      [soon, 700],
    ] as const) {
      await wake({ key: of });
      await t.run(of, { kind: "wait", after });
    }
    expect(await t.ledger.dispatch()).toMatchObject({ next: 700, jobs: [] });
    t.clock += 699;
    expect(await t.ledger.dispatch()).toMatchObject({ next: 1, jobs: [] });
    t.clock += 1;
    expect(await t.ledger.dispatch()).toMatchObject({ next: 4_300, jobs: [{ key: soon }] });
  });

  describe("a lease that ended without an outcome", () => {
    it.each(["claimed", "chained", "assigned"])(
      "of a key that was %s, is taken back one lease after it was renewed last, and not before",
      async (how) => {
        const other = objectKey({ namespace: "a", name: "other" });
        await wake({ key: other });
        await t.claim(other, "before");
        const slots = { worker: "w1", askedAt: 1, version: 0, tokens: ["slot"] };
        let token = "t1";
        if (how === "claimed") {
          await t.wakeAndClaim(key, token);
        } else if (how === "assigned") {
          await t.ledger.advertise(slots);
          await wake();
          const [assignment] = await t.ledger.advertise(slots);
          token = assignment?.token ?? expect.fail("Nothing was assigned.");
        } else {
          await t.registerWorker({ slots: 1 });
          await wake();
          const answer = await t.ledger.settle(other, "before", { kind: "done" }, undefined, {
            token,
            version: 0,
          });
          expect(answer).toMatchObject({ chained: { key } });
        }
        await t.registerWorker({ slots: 5 });
        await t.ledger.settle(other, "before", { kind: "done" });
        for (let renewals = 0; renewals < 3; renewals++) {
          t.clock += lease - 2;
          expect((await t.ledger.dispatch()).jobs).toEqual([]);
          expect(await t.ledger.count()).toMatchObject({ running: 1, due: 0 });
          expect((await t.ledger.renew([{ key, token }])).lost).toEqual([]);
          t.clock += 1;
          expect((await t.ledger.dispatch()).jobs).toEqual([]);
          expect(await t.ledger.count()).toMatchObject({ running: 1, due: 0 });
          expect(await refusal()).toBe("leased");
        }
        t.clock += lease - 2;
        expect((await t.ledger.dispatch()).jobs).toEqual([]);
        t.clock += 1;
        const { jobs } = await t.ledger.dispatch();
        const taken = await t.ledger.advertise(slots);
        expect([...jobs, ...taken].map((one) => one.key)).toEqual([key]);
        expect((await t.ledger.renew([{ key, token }])).lost).toEqual([token]);
      },
    );
    it("is taken back by the dispatcher, which dispatches again", async () => {
      await t.wakeAndClaim(key, "t1");
      expect((await t.ledger.dispatch()).jobs).toHaveLength(0);
      t.clock += lease;
      expect((await t.ledger.dispatch()).jobs).toHaveLength(1);
    });
    it("is taken back in time also where the clock went back meanwhile", async () => {
      await t.wakeAndClaim(key, "t1");
      t.clock -= 600_000;
      await t.ledger.dispatch();
      t.clock += lease;
      expect((await t.ledger.dispatch()).jobs).toMatchObject([{ key }]);
    });
    it("makes its late outcome stale", async () => {
      await t.wakeAndClaim(key, "t1");
      t.clock += lease;
      await claim("t2");
      expect(await t.ledger.settle(key, "t1", { kind: "done" })).toEqual({ kind: "stale" });
      expect(await refusal()).toBe("leased");
    });
    it("is a failure, forgiven once, then backed off", async () => {
      await t.wakeAndClaim(key, "t1");
      t.clock += lease;
      expect((await claim("t2")).fails).toBe(1);
      t.clock += lease;
      expect(await refusal()).toBe("waiting");
      t.clock += 2_000;
      expect((await claim("t3")).fails).toBe(2);
    });
    it("is run again now for what was heard during the run, once per window, and for force always", async () => {
      const heardDuring = async (token: string, force = false): Promise<void> => {
        await claim(token);
        await t.wake(key, {}, force);
        t.clock += lease;
      };
      await t.registerWorker({ slots: 2, backoff: { first: 100_000, longest: 100_000 } });
      await wake();
      await heardDuring("the first is forgiven");
      await heardDuring("pierces");
      expect((await claim("t")).fails).toBe(2);
      t.clock += lease;
      expect(await refusal()).toBe("waiting");
      await t.wake(key, {}, true);
      await heardDuring("does not pierce again");
      expect(await refusal()).toBe("waiting");
      await t.wake(key, {}, true);
      await heardDuring("is forced", true);
      expect((await claim("t")).fails).toBe(2);
    });
  });

  describe("an outcome", () => {
    it("a repeat is answered as before and does nothing", async () => {
      await t.wakeAndClaim(key, "t1");
      await t.ledger.settle(key, "t1", { kind: "done" });
      await wake();
      expect(await t.ledger.settle(key, "t1", { kind: "done" })).toMatchObject({ kind: "settled", jobs: [] });
      expect(await refusal()).toBe("claimed");
    });
    it("gone leaves nothing behind but the last answer", async () => {
      await t.wakeAndRun(key, { kind: "gone" }, { uid: "u1", kind: "pods" });
      expect(await t.ledger.count()).toMatchObject({
        due: 0,
        oldestDue: 0,
        scheduled: 0,
        running: 0,
        parked: 0,
      });
      expect(await refusal()).toBe("nothing due");
      const { uid, versions } = await t.wakeAndClaim(key, "t", { resourceVersion: "300" });
      expect([uid, versions]).toEqual([undefined, { buckets: "300" }]);
    });
    it("terminal parks the key until a wake", async () => {
      await t.wakeAndRun(key, { kind: "terminal", error: "no" });
      expect(await refusal()).toBe("parked");
      expect(await t.ledger.count()).toMatchObject({ parked: 1, due: 0 });
      await wake();
      expect(await refusal()).toBe("claimed");
    });
    it("terminal clears the window of backoff, too: the next wake is not held up by it", async () => {
      await t.wakeAndRun(key, failed);
      await t.wakeAndRun(key, { kind: "terminal", error: "no" });
      expect(await wake()).toHaveLength(1);
    });
    it("interrupted makes the key due at once and counts no failure", async () => {
      await t.wakeAndRun(key, { kind: "interrupted" });
      expect((await claim("t2")).fails).toBe(0);
    });
    it("a conflict comes back almost at once; many in a row become a failure", async () => {
      await wake();
      const waits: (number | undefined)[] = [];
      for (let i = 0; i < 9; i++) {
        waits.push(await run({ kind: "conflict" }));
        t.clock += waits[i] ?? 0;
      }
      expect(waits.slice(0, 3)).toEqual([19, 39, 79]);
      expect((await claim("t")).fails).toBe(1);
    });
    it("a conflict comes back at once for what was heard during the run, or was forced", async () => {
      for (const force of [false, true]) {
        await t.wake(key, {}, force);
        await claim("t");
        await t.wake(key, {}, force);
        expect(await t.ledger.settle(key, "t", { kind: "conflict" })).toMatchObject({ jobs: [{ key }] });
      }
    });
  });

  describe("backoff", () => {
    it("doubles up to its cap, and success forgets it", async () => {
      await wake();
      const waits: (number | undefined)[] = [];
      for (let i = 0; i < 5; i++) {
        waits.push(await run(failed));
        t.clock += waits[i] ?? 0;
      }
      expect(waits).toEqual([999, 1_999, 3_999, 7_999, 7_999]);
      await run({ kind: "done" });
      await wake();
      expect((await claim("t")).fails).toBe(0);
    });
    it("is pierced by one wake per window; failures are not forgotten and do not grow by being woken", async () => {
      await t.wakeAndRun(key, failed);
      t.clock += 10;
      expect(await wake()).toHaveLength(1);
      await run(failed);
      expect(await wake()).toHaveLength(0);
      expect(await refusal()).toBe("waiting");
      t.clock += 1_000;
      expect((await claim("t")).fails).toBe(1);
    });
    it("is waited for by a wake that may not pierce it, and no longer, whatever else is waited for", async () => {
      await t.wakeAndRun(key, failed);
      await t.wakeAndRun(key, { kind: "wait", after: 60_000 });
      await wake();
      expect(await t.inspect(key)).toMatchObject({ state: "waits", why: "backoff" });
      t.clock += 1_000;
      expect(await t.dispatched()).toEqual([key]);
    });
    it("is not pierced again by a wake that comes during the run which pierced it", async () => {
      await t.wakeAndRun(key, failed);
      await t.wakeAndClaim(key, "t1");
      await wake();
      expect(await t.ledger.settle(key, "t1", failed)).toMatchObject({ jobs: [] });
      expect(await refusal()).toBe("waiting");
    });
    it("lets a key that always fails be tried at most twice per window under a stream of wakes", async () => {
      await wake();
      let tries = 0;
      let windows = 0;
      for (let ms = 0; ms < 10_000; ms += 10) {
        t.clock += 10;
        await wake();
        const answer = await t.ledger.claim(key, `t${ms}`);
        if ("refused" in answer) continue;
        tries++;
        const before = answer.claimed.claim.fails;
        await t.ledger.settle(key, `t${ms}`, failed);
        windows += (await t.inspect(key)).fails - before;
      }
      expect(windows).toBeGreaterThan(2);
      expect(tries).toBeLessThanOrEqual(2 * windows);
    });
    it("takes the time that the server asked for, without counting a failure", async () => {
      await wake();
      expect(await run({ kind: "retry", error: "429", after: 30_000 })).toBe(30_000);
      t.clock += 30_000;
      expect((await claim("t")).fails).toBe(0);
    });
  });

  describe("jobs", () => {
    it("are no more than the limit; the rest is dispatched when there is room", async () => {
      const keys = ["a", "b", "c"].map((name) => objectKey({ name }));
      const dispatched = (await Promise.all(keys.map((each) => wake({ key: each })))).flat();
      expect(dispatched).toHaveLength(2);
      const [first] = dispatched;
      await claim("t", first?.key);
      expect(await t.ledger.settle(first!.key, "t", { kind: "done" })).toMatchObject({
        jobs: [{ key: "c" }],
      });
    });
    it("are held back, too, where more are out than there are slots", async () => {
      for (const name of ["a", "b", "c"]) await wake({ key: objectKey({ name }) });
      await t.registerWorker({ slots: 1 });
      expect((await t.ledger.dispatch()).jobs).toEqual([]);
    });
    it("that no worker takes are added again under a new number", async () => {
      const [job] = await wake();
      t.clock += 2_001;
      expect(await t.ledger.unclaimedJobs(2_000)).toEqual([job]);
      await t.ledger.dispatchAgain(job!);
      const { jobs } = await t.ledger.dispatch();
      expect(jobs).toMatchObject([{ key }]);
      expect(jobs[0]?.number).not.toBe(job?.number);
    });
    it("that no worker takes are known though their key is woken again and again", async () => {
      const [job] = await wake();
      t.clock += 1_500;
      expect(await wake()).toEqual([]);
      t.clock += 501;
      expect(await t.ledger.unclaimedJobs(2_000)).toEqual([job]);
    });
    it("that were added when the clock was ahead are added again", async () => {
      const [job] = await wake();
      t.clock -= 600_000;
      expect(await t.ledger.unclaimedJobs(2_000)).toEqual([job]);
    });
    it("are not added again for one that was lost before them", async () => {
      const [lost] = await wake();
      await run({ kind: "done" });
      await wake();
      await t.ledger.dispatchAgain(lost!);
      expect((await t.ledger.dispatch()).jobs).toEqual([]);
    });
    it("answered meanwhile are not added again", async () => {
      const [job] = await wake();
      await claim("t");
      await t.ledger.dispatchAgain(job!);
      expect((await t.ledger.dispatch()).jobs).toHaveLength(0);
      expect(await refusal()).toBe("leased");
    });
  });

  it("counts failing keys until they succeed, and says how long runs take, and that it is paused", async () => {
    const past = (outcome: "done" | "retry", duration: number) => ({
      trigger: [],
      verdict: outcome,
      duration,
    });
    expect(await t.ledger.count()).toMatchObject({ failing: 0, runTime: 0, allPaused: false });
    await t.wakeAndClaim(key, "t1");
    await t.ledger.settle(key, "t1", { kind: "retry", error: "no" }, past("retry", 80));
    expect(await t.ledger.count()).toMatchObject({ failing: 1, runTime: 80 });
    await t.wakeAndClaim(key, "t2");
    await t.ledger.settle(key, "t2", { kind: "done" }, past("done", 160));
    expect(await t.ledger.count()).toMatchObject({ failing: 0, runTime: 90 });
    await t.ledger.pause({ kind: "controller" }, "tests");
    expect(await t.ledger.count()).toMatchObject({ allPaused: true });
  });
  it("counts keys by state", async () => {
    await wake({ key: objectKey({ name: "waits" }) });
    await t.wakeAndClaim(key, "t");
    t.clock += 500;
    expect(await t.ledger.count()).toMatchObject({
      due: 1,
      oldestDue: 500,
      scheduled: 0,
      running: 1,
      parked: 0,
    });
  });
}
