import { objectKey, silentLog } from "@drover/controller";
import { processTimers } from "@drover/timers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Bell, Bells } from "./bells.ts";
import { openMemoryLedger } from "./memory-ledger.ts";
import { startRinger } from "./ringer.ts";
import { wakeOf } from "./work-queue.contract.ts";

const key = objectKey({ namespace: "default", name: "a" });
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A ringer on the ledger's own rules, with a BullMQ in which only `waits` is waiting. */
async function ringing(waits: (bell: Bell) => boolean, longestSleep = 500) {
  const added: Bell[] = [];
  const bells: Bells = {
    add: (some) => Promise.resolve(void added.push(...some)),
    tell: () => Promise.resolve(),
    waiting: (some) => Promise.resolve(some.filter(waits)),
    listen: () => ({ stop: () => Promise.resolve() }),
    close: () => Promise.resolve(),
  };
  const ledger = openMemoryLedger({ lease: 30_000, settling: 0, now: () => Date.now() });
  await ledger.wake([wakeOf(key)]);
  const ringer = startRinger({
    ledger,
    bells,
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
    ringer,
    stop: () => Promise.all([ringer.stop(), vi.advanceTimersByTimeAsync(1_000)]),
  };
}

it("rings a bell again that is lost, under another number, as often as it gets lost", async () => {
  const { added, stop } = await ringing(() => false);
  expect(added.map((bell) => bell.key)).toEqual([key]);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(added).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(added).toHaveLength(3);
  expect(new Set(added.map(({ number }) => number)).size).toBe(3);
  await stop();
});

it("rings no bell again that waits in BullMQ for a free worker", async () => {
  const { added, stop } = await ringing(() => true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(added).toHaveLength(1);
  await stop();
});

it("rings none of several bells again that wait in BullMQ", async () => {
  const { added, ledger, stop } = await ringing(() => true);
  const backoff = { first: 1, longest: 1 };
  await ledger.enlist({ worker: "w", slots: 3, version: 0, lasts: 1_000_000, backoff, accounts: {} });
  for (const name of ["x", "y"]) expect(await ledger.wake([wakeOf(objectKey({ name }))])).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(added).toHaveLength(1);
  await stop();
});

/** Runs the key that was rung, and has it wait. */
async function waits({ ledger }: Awaited<ReturnType<typeof ringing>>, after: number): Promise<void> {
  await ledger.claim(key, `run ${after}`);
  await ledger.settle(key, `run ${after}`, { kind: "wait", after });
}

it("rings when a timer ends, and at once what became due meanwhile: it sleeps for a second at most", async () => {
  const opened = await ringing(() => true, 1_000);
  const { added, ledger, stop } = opened;
  await waits(opened, 10_300);
  // Another process has set it: nobody told this ringer.
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
  expect(added.map((bell) => bell.key)).toEqual([key, key, other]);
  await stop();
});

it("rings at the end of a timer that it was told of, though it sleeps", async () => {
  const opened = await ringing(() => true, 1_000);
  const { added, ringer, stop } = opened;
  await vi.advanceTimersByTimeAsync(1);
  await waits(opened, 20);
  ringer.expect(20);
  await vi.advanceTimersByTimeAsync(19);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(added).toHaveLength(2);
  await stop();
});

it.each([
  ["before another one was told of", 20, 900],
  ["after another one was told of", 900, 20],
])("rings at the end of the first of two timers that it was told of: %s", async (_, ...spans) => {
  const opened = await ringing(() => true, 1_000);
  const { added, ringer, stop } = opened;
  await vi.advanceTimersByTimeAsync(1);
  await waits(opened, 20);
  for (const span of spans) ringer.expect(span);
  await vi.advanceTimersByTimeAsync(20);
  expect(added).toHaveLength(2);
  await stop();
});

it("rings at the end of a timer that it was told of while it rang", async () => {
  const opened = await ringing(() => true, 1_000);
  const { added, ledger, ringer, stop } = opened;
  await ledger.claim(key, "t");
  const ring = ledger.ring.bind(ledger);
  vi.spyOn(ledger, "ring").mockImplementationOnce(async () => {
    const answer = await ring();
    await ledger.settle(key, "t", { kind: "wait", after: 20 });
    ringer.expect(20);
    return answer;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(20);
  expect(added).toHaveLength(2);
  await stop();
});

it("takes back a lease that has ended, within a second, though no worker is alive", async () => {
  const { added, ledger, stop } = await ringing(() => true, 1_000);
  await ledger.claim(key, "t");
  await vi.advanceTimersByTimeAsync(29_000);
  expect(added).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(added).toHaveLength(2);
  await stop();
});
