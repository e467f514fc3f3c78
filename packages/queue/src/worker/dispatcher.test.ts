import { objectKey, silentLog } from "@drover/controller";
import { processTimers } from "@drover/timers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ClaimJob, JobQueue } from "./job-queue.ts";
import { openMemoryLedger } from "../memory/memory-ledger.ts";
import { startDispatcher } from "./dispatcher.ts";
import { wakeOf } from "../work-queue/work-queue.contract.ts";

const key = objectKey({ namespace: "default", name: "a" });
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A dispatcher on the ledger's own rules, with a BullMQ in which only `waits` is waiting. */
async function runningDispatcher(waits: (job: ClaimJob) => boolean, longestSleep = 500) {
  const added: ClaimJob[] = [];
  const jobQueue: JobQueue = {
    add: (some) => Promise.resolve(void added.push(...some)),
    addFailed: () => Promise.resolve(),
    stillWaiting: (some) => Promise.resolve(some.filter(waits)),
    consume: () => ({ stop: () => Promise.resolve() }),
    close: () => Promise.resolve(),
  };
  const ledger = openMemoryLedger({ lease: 30_000, recoveryWindow: 0, now: () => Date.now() });
  await ledger.wake([wakeOf(key)]);
  const dispatcher = startDispatcher({
    ledger,
    jobQueue,
    timers: processTimers,
    newId: () => "w",
    log: silentLog,
    lease: 30_000,
    longestSleep,
  });
  await vi.advanceTimersByTimeAsync(0);
  return {
    added,
    ledger,
    dispatcher,
    stop: () => Promise.all([dispatcher.stop(), vi.advanceTimersByTimeAsync(1_000)]),
  };
}

it("adds a lost job again, under another number, as often as it gets lost", async () => {
  const { added, stop } = await runningDispatcher(() => false);
  expect(added.map((job) => job.key)).toEqual([key]);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(added).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(added).toHaveLength(3);
  expect(new Set(added.map(({ number }) => number)).size).toBe(3);
  await stop();
});

it("adds no job again that waits in BullMQ for a free worker", async () => {
  const { added, stop } = await runningDispatcher(() => true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(added).toHaveLength(1);
  await stop();
});

it("adds none of several jobs again that wait in BullMQ", async () => {
  const { added, ledger, stop } = await runningDispatcher(() => true);
  const backoff = { first: 1, longest: 1 };
  await ledger.registerWorker({ worker: "w", slots: 3, version: 0, lasts: 1_000_000, backoff, accounts: {} });
  for (const name of ["x", "y"]) expect(await ledger.wake([wakeOf(objectKey({ name }))])).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(added).toHaveLength(1);
  await stop();
});

/** Runs the dispatched key, and has it wait. */
async function waits(
  { ledger }: Awaited<ReturnType<typeof runningDispatcher>>,
  after: number,
): Promise<void> {
  await ledger.claim(key, `run ${after}`);
  await ledger.settle(key, `run ${after}`, { kind: "wait", after });
}

it("dispatches when a timer ends, and at once the keys that became due meanwhile: it sleeps for a second at most", async () => {
  const opened = await runningDispatcher(() => true, 1_000);
  const { added, ledger, stop } = opened;
  await waits(opened, 10_300);
  // Another process has set it: this dispatcher was not notified.
  await vi.advanceTimersByTimeAsync(10_299);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(added).toHaveLength(2);
  await waits(opened, 400_000);
  await vi.advanceTimersByTimeAsync(1_000);
  await ledger.claim(key, "t");
  const other = objectKey({ name: "other" });
  await ledger.wake([wakeOf(other)]);
  await ledger.claim(other, "u");
  await ledger.settle(other, "u", { kind: "wait", after: 10 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(added.map((job) => job.key)).toEqual([key, key, other]);
  await stop();
});

it("dispatches at the end of a timer that it was told of, though it sleeps", async () => {
  const opened = await runningDispatcher(() => true, 1_000);
  const { added, dispatcher, stop } = opened;
  await vi.advanceTimersByTimeAsync(1);
  await waits(opened, 20);
  dispatcher.expectDueIn(20);
  await vi.advanceTimersByTimeAsync(19);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(added).toHaveLength(2);
  await stop();
});

it.each([
  ["before another one was told of", 20, 900],
  ["after another one was told of", 900, 20],
])("dispatches at the end of the first of two timers that it was told of: %s", async (_, ...spans) => {
  const opened = await runningDispatcher(() => true, 1_000);
  const { added, dispatcher, stop } = opened;
  await vi.advanceTimersByTimeAsync(1);
  await waits(opened, 20);
  for (const span of spans) dispatcher.expectDueIn(span);
  await vi.advanceTimersByTimeAsync(20);
  expect(added).toHaveLength(2);
  await stop();
});

it("dispatches at the end of a timer that it was told of while it dispatched", async () => {
  const opened = await runningDispatcher(() => true, 1_000);
  const { added, ledger, dispatcher, stop } = opened;
  await ledger.claim(key, "t");
  const dispatch = ledger.dispatch.bind(ledger);
  vi.spyOn(ledger, "dispatch").mockImplementationOnce(async () => {
    const answer = await dispatch();
    await ledger.settle(key, "t", { kind: "wait", after: 20 });
    dispatcher.expectDueIn(20);
    return answer;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(20);
  expect(added).toHaveLength(2);
  await stop();
});

it("takes back a lease that has ended, within a second, though no worker is alive", async () => {
  const { added, ledger, stop } = await runningDispatcher(() => true, 1_000);
  await ledger.claim(key, "t");
  await vi.advanceTimersByTimeAsync(29_000);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(added).toHaveLength(2);
  await stop();
});
