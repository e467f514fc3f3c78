import { objectKey, type ObjectKey } from "@drover/controller";
import { once } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { JobQueue } from "./job-queue.ts";
import type { WorkerRegistration, Ledger, SlotRequest } from "../ledger/ledger.ts";
import { openMemoryJobQueue } from "./memory-job-queue.fixture.ts";
import { openMemoryWorkQueue } from "./memory-work-queue.fixture.ts";
import { wakeOf } from "../work-queue/work-queue.contract.ts";
import type { QueueWorker, Run, RunOutcome, WorkOptions, WorkQueue } from "../work-queue/work-queue.ts";

/** What goes on between a worker and its ledger, which lets claims through once `door` is open. */
interface Seen {
  /** Whether the ledger hears of idle slots; else every key comes by a job. */
  advertising: boolean;
  claimGate: Promise<unknown>;
  readonly claims: ObjectKey[];
  readonly registrations: WorkerRegistration[];
  readonly processed: ObjectKey[];
  /** Of answers that failed. */
  readonly failed: unknown[];
}

let seen: Seen;
let queue: WorkQueue;
const workers: QueueWorker[] = [];
const keys = (count: number): readonly ObjectKey[] =>
  Array.from({ length: count }, (_, i) => objectKey({ namespace: "a", name: `n${i}` }));
const done: RunOutcome = { kind: "done" };

beforeEach(() => {
  seen = {
    advertising: false,
    claimGate: Promise.resolve(),
    claims: [],
    registrations: [],
    processed: [],
    failed: [],
  };
  queue = openMemoryWorkQueue({
    intercept: watched,
    jobQueue: watchedJobQueue(openMemoryJobQueue()),
    times: { lease: 2_000, renewal: 20, recoveryWindow: 40 },
  });
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.drain(0)));
  await queue.close();
});

function watched(ledger: Ledger): Ledger {
  return {
    ...ledger,
    async claim(...request) {
      const answer = await ledger.claim(...request);
      if ("claimed" in answer) seen.claims.push(request[0]);
      await seen.claimGate;
      return answer;
    },
    advertise: (slots) => (seen.advertising ? ledger.advertise(slots) : Promise.resolve([])),
    settle: (key, token, outcome, report, next) =>
      ledger.settle(key, token, outcome, report, next && (seen.advertising ? next : withoutAdvertiser(next))),
    registerWorker(registration) {
      seen.registrations.push(registration);
      return ledger.registerWorker(registration);
    },
  };
}

const withoutAdvertiser = ({ worker: _, ...request }: SlotRequest): SlotRequest => request;

const watchedJobQueue = (jobQueue: JobQueue): JobQueue => ({
  ...jobQueue,
  addFailed: (failed) => Promise.resolve(void seen.failed.push(failed)),
  consume: (processJob, concurrency) =>
    jobQueue.consume(async (key) => {
      seen.processed.push(key);
      await processJob(key).catch((error: unknown) => void seen.failed.push(error));
    }, concurrency),
});

function work(
  handler: (run: Run) => Promise<RunOutcome>,
  concurrency = 1,
  onSettled?: WorkOptions["onSettled"],
): QueueWorker {
  const told = onSettled && { onSettled };
  const worker = queue.work(handler, { concurrency, timeout: 60_000, version: 3, ...told });
  workers.push(worker);
  return worker;
}

const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 20_000 });
const untilStopped = async ({ signal }: Run): Promise<RunOutcome> => {
  if (!signal.aborted) await once(signal, "abort");
  return { kind: "interrupted" };
};

it("runs the keys that are chained: one claim serves many runs, and one job a hundred", async () => {
  const ran: ObjectKey[] = [];
  const came = { dequeued: 0, chained: 0, assigned: 0 };
  await queue.wake(keys(250).map(wakeOf));
  const run = ({ key }: Run): Promise<RunOutcome> => {
    ran.push(key);
    return Promise.resolve(done);
  };
  work(run, 1, (_run, _outcome, _duration, by) => {
    came[by] += 1;
  });
  await until(() => expect(came.dequeued + came.chained).toBe(250));
  expect(new Set(ran).size).toBe(250);
  expect(came).toEqual({ dequeued: seen.claims.length, chained: 250 - seen.claims.length, assigned: 0 });
  // A job that is out when a processed one ends is processed next, and may find no key due.
  expect(seen.claims.length).toBeGreaterThanOrEqual(3);
  expect(seen.claims.length).toBeLessThanOrEqual(6);
});

it("gives every chained run a token, a lease and a signal of its own", async () => {
  const runs: { readonly token: string; readonly signal: AbortSignal }[] = [];
  await queue.wake(keys(5).map(wakeOf));
  work(async (run) => {
    // Not while this process has stood still for longer than a ledger settles, which is 40 ms here.
    await until(() => expect(run.hasLease()).toBe(true));
    runs.push({ token: run.token, signal: run.signal });
    return done;
  });
  await until(() => expect(runs).toHaveLength(5));
  expect(new Set(runs.map(({ token }) => token)).size).toBe(5);
  expect(new Set(runs.map(({ signal }) => signal)).size).toBe(5);
});

it("fails a job for a run that failed, under its own key, and goes on with others", async () => {
  const all = keys(3);
  const ran: ObjectKey[] = [];
  await queue.wake(all.map(wakeOf));
  work(({ key }) => {
    ran.push(key);
    return Promise.resolve(key === all[1] ? { kind: "terminal", error: "no" } : done);
  });
  await until(() => expect(ran).toHaveLength(3));
  await until(() => expect(seen.failed).toMatchObject([{ key: all[1], message: "no" }]));
  expect(seen.processed[0]).not.toBe(all[1]);
});

it("that is told to stop gets no more keys chained", async () => {
  const door = Promise.withResolvers<RunOutcome>();
  const ran: ObjectKey[] = [];
  await queue.wake(keys(3).map(wakeOf));
  const worker = work(({ key }) => {
    ran.push(key);
    return door.promise;
  });
  await until(() => expect(ran).toHaveLength(1));
  const drained = worker.drain(60_000);
  door.resolve(done);
  await drained;
  expect(ran).toHaveLength(1);
  expect(await queue.stats(1_000)).toMatchObject({ due: 2, running: 0 });
});

it("that is told to stop stops a run, too, whose claim is answered when its grace is over", async () => {
  const door = Promise.withResolvers();
  seen.claimGate = door.promise;
  const ran: ObjectKey[] = [];
  await queue.wake(keys(1).map(wakeOf));
  const worker = work((run) => {
    ran.push(run.key);
    return untilStopped(run);
  }, 2);
  const hanging = objectKey({ name: "hanging" });
  await until(() => expect(seen.claims).toHaveLength(1));
  seen.claimGate = Promise.resolve();
  await queue.wake([wakeOf(hanging)]);
  await until(() => expect(ran).toEqual([hanging]));
  const drained = worker.drain(0);
  await until(() => expect(worker.active()).toBe(0)); // the grace is over
  door.resolve(undefined);
  await drained;
  expect(ran).toEqual([hanging]);
  await until(async () => expect(await queue.stats(1_000)).toMatchObject({ due: 2, running: 0 }));
});

it("that is told to stop has no slots but those that are busy, and holds no older version back", async () => {
  const door = Promise.withResolvers<RunOutcome>();
  const worker = work(() => door.promise, 4);
  await queue.wake(keys(1).map(wakeOf));
  await until(() => expect(worker.active()).toBe(1));
  expect(seen.registrations.at(-1)).toMatchObject({ slots: 4, version: 3 });
  const drained = worker.drain(60_000);
  await until(() => expect(seen.registrations.at(-1)).toMatchObject({ slots: 1, version: 0 }));
  door.resolve(done);
  await drained;
  expect(seen.registrations.at(-1)).toMatchObject({ slots: 0 });
});

it("is counted for longer than the leases last that it leaves behind when it dies", async () => {
  work(() => Promise.resolve(done));
  await until(() => expect(seen.registrations.at(-1)?.lasts).toBeGreaterThan(2_000));
});
