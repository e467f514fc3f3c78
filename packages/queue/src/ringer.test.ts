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
async function ringing(waits: (bell: Bell) => boolean) {
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
    longestSleep: 500,
  });
  await vi.advanceTimersByTimeAsync(0);
  return { added, stop: () => Promise.all([ringer.stop(), vi.advanceTimersByTimeAsync(1_000)]) };
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
