/**
 * What every work queue promises, with real time and whole workers: `workQueueContract(open)` in a test file of each
 * implementation.
 */
import { type Log, objectKey, type ObjectKey, silentLog } from "@drover/controller";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { QueueDurations } from "./ledger-work-queue.ts";
import type { QueueWorker, Run, RunOutcome, Wake, WorkQueue } from "./work-queue.ts";

export const key = objectKey({ namespace: "default", name: "photos" });
export const wakeOf = (of: ObjectKey): Wake => ({
  key: of,
  kind: "buckets",
  resourceVersion: "1",
  reason: "Added",
  class: "change",
});

export interface OpenedWorkQueue {
  readonly queue: WorkQueue;
  /** Puts another server in the place of the one that holds the queue's data. */
  replaceServer(): Promise<void>;
}

/** How to open a queue of one kind, anew for every test. */
export type OpenWorkQueue = (options: {
  readonly controller: string;
  readonly log: Log;
  readonly times: Partial<QueueDurations>;
  readonly onIncarnation: (incarnation: string) => void;
}) => OpenedWorkQueue;

/** A queue of its own for each test, and its workers, which are drained when the test is over. */
export interface WorkQueueUnderTest {
  readonly queue: WorkQueue;
  readonly workers: QueueWorker[];
  readonly incarnations: readonly string[];
  replaceServer(): Promise<void>;
  /**
   * Starts a worker; `ran` are the keys of its runs, and `outcomes` are of those that it has settled. By default every
   * run is done at once.
   */
  work(
    handler?: (run: Run) => Promise<RunOutcome>,
    options?: { readonly concurrency?: number; readonly timeout?: number },
  ): {
    readonly worker: QueueWorker;
    readonly ran: readonly ObjectKey[];
    readonly outcomes: readonly RunOutcome["kind"][];
  };
}

const shortDurations: QueueDurations = { lease: 1_200, renewal: 200, recoveryWindow: 400 };
/**
 * A run is sure of its lease since its slot was advertised, which may be a renewal ago. On a server that does not know
 * of it, it is stopped where its next renewal comes later than `recoveryWindow` after that: these times leave room for
 * it.
 */
const longDurations: QueueDurations = { lease: 6_000, renewal: 200, recoveryWindow: 1_500 };

export function workQueueUnderTest(open: OpenWorkQueue, times = shortDurations): WorkQueueUnderTest {
  let opened: OpenedWorkQueue | undefined;
  let workers: QueueWorker[] = [];
  let incarnations: string[] = [];
  const needed = (): OpenedWorkQueue => {
    if (!opened) throw new Error("The queue is opened before each test, not before.");
    return opened;
  };
  beforeEach(() => {
    workers = [];
    incarnations = [];
    const onIncarnation = (incarnation: string): void => void incarnations.push(incarnation);
    opened = open({ controller: randomUUID(), log: silentLog, times, onIncarnation });
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.drain(0)));
    await opened?.queue.close();
  });
  return {
    get queue() {
      return needed().queue;
    },
    get workers() {
      return workers;
    },
    get incarnations() {
      return incarnations;
    },
    replaceServer: () => needed().replaceServer(),
    work(handler = done, { concurrency = 4, timeout = 60_000 } = {}) {
      const ran: ObjectKey[] = [];
      const outcomes: RunOutcome["kind"][] = [];
      const recordAndHandle = (run: Run): Promise<RunOutcome> => {
        ran.push(run.key);
        return handler(run);
      };
      const worker = needed().queue.work(recordAndHandle, {
        concurrency,
        timeout,
        backoff: { first: 20, longest: 100 },
        onSettled: (_run, outcome) => void outcomes.push(outcome.kind),
      });
      workers.push(worker);
      return { worker, ran, outcomes };
    },
  };
}

/** Waits for a condition; how long, only a hang may tell. */
const eventually = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 20_000 });
/** Ends every run at once. */
const done = (): Promise<RunOutcome> => Promise.resolve({ kind: "done" });

export function workQueueContract(open: OpenWorkQueue): void {
  const t = workQueueUnderTest(open);

  it("gives every run a token of its own, also those of one key", async () => {
    const tokens: string[] = [];
    t.work((run) => {
      tokens.push(run.token);
      return Promise.resolve(tokens.length < 10 ? { kind: "done", after: 1 } : { kind: "done" });
    });
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(tokens).toHaveLength(10));
    expect(new Set(tokens).size).toBe(10);
  });

  it("brings every woken key to a run", async () => {
    const { ran } = t.work();
    const keys = Array.from({ length: 1_000 }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
    await t.queue.wake(keys.map(wakeOf));
    await eventually(() => expect(new Set(ran).size).toBe(1_000));
  });

  it("keeps keys apart whose names are unusual, also for Redis, BullMQ, Lua and JavaScript", async () => {
    const names = [
      "a:b",
      "{a}",
      "a}{b",
      "%61",
      "a",
      "__proto__",
      "constructor",
      "\u0430",
      "a.b",
      "0",
      "-1",
      "*",
      "'\"\\",
    ];
    const keys = names.flatMap((name) => [objectKey({ name }), objectKey({ namespace: "ns", name })]);
    const { ran } = t.work(() => Promise.resolve({ kind: "gone" }));
    await t.queue.wake(keys.map(wakeOf));
    await eventually(() => expect(ran).toHaveLength(keys.length));
    expect([...ran].sort()).toEqual([...keys].sort());
    await eventually(async () =>
      expect(await t.queue.stats(10_000)).toMatchObject({ due: 0, scheduled: 0, running: 0, parked: 0 }),
    );
  });

  it("never runs a key twice at once, however often it is woken, and runs it after the last wake", async () => {
    let running = 0;
    let most = 0;
    let heard = 0;
    let seen = 0;
    t.work(async () => {
      most = Math.max(most, ++running);
      const before = heard;
      await new Promise(setImmediate);
      seen = before;
      running--;
      return { kind: "done" };
    });
    for (let wakes = 1; wakes <= 300; wakes++) {
      heard = wakes;
      await t.queue.wake([wakeOf(key)]);
    }
    await eventually(() => expect(seen).toBe(300));
    expect(most).toBe(1);
  });

  it("retries a run that failed or threw, and starts over after a success", async () => {
    const fails: number[] = [];
    const { outcomes } = t.work((run) => {
      fails.push(run.claim.fails);
      if (fails.length === 1) throw new Error("thrown");
      return Promise.resolve(fails.length < 3 ? { kind: "retry", error: "no" } : { kind: "done" });
    });
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(outcomes).toEqual(["retry", "retry", "done"]));
    expect(fails).toEqual([0, 1, 2]);
  });

  it("aborts a run that takes too long, gives its slot back though it hangs, and refuses its writes", async () => {
    let hanging: Run | undefined;
    const { outcomes } = t.work(
      (run) => {
        if (run.claim.fails > 0) return Promise.resolve({ kind: "done" });
        hanging = run;
        return new Promise(() => undefined);
      },
      { concurrency: 1, timeout: 50 },
    );
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(outcomes).toEqual(["retry", "done"]));
    expect(hanging?.signal.aborted).toBe(true);
    expect(hanging?.hasLease()).toBe(false);
  });

  it("no longer calls a key its own when its outcome is in: it may run elsewhere by then", async () => {
    const held = Promise.withResolvers<readonly boolean[]>();
    let during: boolean | undefined;
    const handler = (run: Run): Promise<RunOutcome> => (
      (during = run.hasLease()),
      Promise.resolve({ kind: "done" })
    );
    const worker = t.queue.work(handler, {
      concurrency: 1,
      timeout: 60_000,
      onSettled: (run) => held.resolve([during === true, run.hasLease()]),
    });
    t.workers.push(worker);
    await t.queue.wake([wakeOf(key)]);
    expect(await held.promise).toEqual([true, false]);
  });

  it("holds a lease for as long as the run lasts", async () => {
    const ended = Promise.withResolvers<RunOutcome>();
    const { ran, outcomes } = t.work(() => ended.promise);
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(ran).toHaveLength(1));
    const deadlines = new Set<number>();
    await eventually(async () => {
      const { state, at } = (await t.queue.inspect(key)).key;
      expect(state).toBe("leased");
      deadlines.add(at);
      expect(deadlines.size).toBeGreaterThan(4); // more than a whole lease's renewals
    });
    ended.resolve({ kind: "done" });
    await eventually(() => expect(outcomes).toEqual(["done"]));
    expect(ran).toHaveLength(1);
  });

  it("drains: runs under way end, nothing new starts, what is over its grace is due again at once", async () => {
    const started = Promise.withResolvers<Run>();
    const { worker, outcomes } = t.work((run) => {
      started.resolve(run);
      return new Promise((resolve) =>
        run.signal.addEventListener("abort", () => resolve({ kind: "interrupted" })),
      );
    });
    await t.queue.wake([wakeOf(key)]);
    await started.promise;
    const drained = worker.drain(10);
    await drained;
    expect(outcomes).toEqual(["interrupted"]);
    expect(await t.queue.stats(10_000)).toMatchObject({ due: 1, running: 0 });
    const { outcomes: next } = t.work();
    await eventually(() => expect(next).toEqual(["done"]));
  });

  it("runs a key again at once that was woken during a run which asked for a later one", async () => {
    const { outcomes } = t.work(async (run) => {
      if (run.claim.reasons[0] !== "Added") return { kind: "done" };
      await t.queue.wake([{ ...wakeOf(key), reason: "Modified" }]);
      return { kind: "done", after: 3_600_000 };
    });
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(outcomes).toEqual(["done", "done"]));
  });

  it("runs a key again when the time has come that its last run asked for", async () => {
    const reasons: (readonly string[])[] = [];
    t.work((run) => {
      reasons.push(run.claim.reasons);
      return Promise.resolve(reasons.length < 3 ? { kind: "done", after: 20 } : { kind: "done" });
    });
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(reasons).toEqual([["Added"], [], []]));
  });

  it("holds what is paused until it is resumed", async () => {
    const other = objectKey({ namespace: "other", name: "photos" });
    const { ran } = t.work();
    const scope = { kind: "namespace", namespace: "default" } as const;
    await t.queue.pause(scope, "tests");
    await t.queue.wake([wakeOf(key), wakeOf(other)]);
    await eventually(() => expect(ran).toEqual([other]));
    expect((await t.queue.inspect(key)).key).toMatchObject({ pauses: [{ scope: "namespace", by: "tests" }] });
    expect(await t.queue.stats(10_000)).toMatchObject({ due: 0, paused: 1 });
    await t.queue.resume(scope);
    await eventually(() => expect(ran).toEqual([other, key]));
  });

  it("runs a key now that waits or is parked, when it is forced", async () => {
    const { outcomes } = t.work((run) =>
      Promise.resolve(
        run.claim.reasons[0] === "Forced" ? { kind: "done" } : { kind: "terminal", error: "no such region" },
      ),
    );
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(outcomes).toEqual(["terminal"]));
    expect(await t.queue.list("parked", { limit: 10 })).toMatchObject({
      keys: [{ key, error: "no such region" }],
      next: undefined,
    });
    await t.queue.force([key]);
    await eventually(() => expect(outcomes).toEqual(["terminal", "done"]));
    const { runs } = await t.queue.inspect(key);
    expect(runs.map((run) => [run.verdict, run.trigger])).toEqual([
      ["done", ["Forced"]],
      ["terminal", ["Added"]],
    ]);
  });

  it("starts no more runs of an account that asked to wait, and goes on with others", async () => {
    const other = objectKey({ name: "other" });
    const { ran } = t.work((run) =>
      Promise.resolve(
        run.key === key ? { kind: "throttled", account: "aws", after: 3_600_000 } : { kind: "done" },
      ),
    );
    await t.queue.wake([wakeOf(key)]);
    await eventually(() => expect(ran).toEqual([key]));
    await t.queue.wake([wakeOf(key)]);
    await t.queue.wake([wakeOf(other)]);
    await eventually(() => expect(ran).toEqual([key, other]));
    expect((await t.queue.inspect(key)).key).toMatchObject({ state: "ready", account: "aws" });
  });

  describe("on a server that took another's place", () => {
    const t = workQueueUnderTest(open, longDurations);

    it("tells of it, and lets a run under way end in peace", async () => {
      const started = Promise.withResolvers<Run>();
      const ended = Promise.withResolvers<RunOutcome>();
      const { ran } = t.work((run) => {
        started.resolve(run);
        return ran.length === 1 ? ended.promise : done();
      });
      await t.queue.wake([wakeOf(key)]);
      const { signal } = await started.promise;
      await t.replaceServer();
      await eventually(() => expect(t.incarnations).toHaveLength(1));
      await eventually(async () => expect((await t.queue.inspect(key)).key.state).toBe("leased"));
      await t.queue.wake([wakeOf(key)]);
      expect([ran.length, signal.aborted]).toEqual([1, false]);
      ended.resolve({ kind: "done" });
      await eventually(() => expect(ran).toHaveLength(2));
    });
  });

  it("forces every key that it knows of, also those that nothing is due for", async () => {
    const keys = Array.from({ length: 5 }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
    const { ran } = t.work();
    await t.queue.wake(keys.map(wakeOf));
    await eventually(() => expect(ran.toSorted()).toEqual(keys));
    await eventually(async () => expect(await t.queue.stats(10_000)).toMatchObject({ due: 0, running: 0 }));
    await t.queue.forceAll();
    await eventually(() => expect(ran.toSorted()).toEqual([...keys, ...keys].toSorted()));
  });

  it("forces also keys that it holds for paused: what ended a pause may be lost", async () => {
    const { ran } = t.work();
    await t.queue.wake([{ ...wakeOf(key), uid: "u1", paused: true }]);
    expect((await t.queue.inspect(key)).key.state).toBe("paused");
    await t.queue.forceAll();
    await eventually(() => expect(ran).toEqual([key]));
  });

  it("answers that it is there, and how much there is to do", async () => {
    await t.queue.wake([wakeOf(key), wakeOf(objectKey({ name: "other" }))]);
    await t.queue.ping(10_000);
    expect(await t.queue.stats(10_000)).toMatchObject({ due: 2, running: 0, scheduled: 0, parked: 0 });
  });

  it.each([
    [{ lease: 2_000, renewal: 2_000 }, /at least twice its renewal: 4000 ms/],
    [{ renewal: 400, recoveryWindow: 799 }, /renew at least every 399.5 ms, not every 400/],
    [{ lease: NaN }, /between 1 ms and 24 days/],
    [{ lease: -1 }, /between 1 ms/],
    [{ recoveryWindow: 2 ** 31 }, /between 1 ms and 24 days/],
  ])("refuses times that cannot work: %j", (times, message) => {
    expect(() => open({ controller: "refused", log: silentLog, times, onIncarnation: () => {} })).toThrow(
      message,
    );
  });

  it.each([
    [{ concurrency: 0 }, /between 1 and 10,000 keys at once, not 0/],
    [{ concurrency: 1.5 }, /not 1\.5/],
    [{ timeout: NaN }, /timeout is between 1 ms and 24 days/],
    [{ timeout: 2 ** 31 }, /timeout is between/],
    [{ version: -1 }, /whole number from 0 on, not -1/],
    [{ backoff: { first: 0 } }, /between 1 ms and 24 days, not 0/],
    [{ backoff: { longest: 1e308 } }, /between 1 ms and 24 days/],
    [{ backoff: { first: 10_000, longest: 1_000 } }, /longest backoff/],
    [{ backoff: { attempts: 0 } }, /Attempts are a whole number from 1 on/],
    [{ limits: { runs: { perSecond: 0, burst: 1 } } }, /runs a second/],
    [{ limits: { accounts: { a: { perSecond: 1, burst: 0.5 } } } }, /burst/],
  ])("refuses a worker that cannot work: %j", (options, message) => {
    expect(() => t.queue.work(done, { concurrency: 1, timeout: 1_000, ...options })).toThrow(message);
  });
}
