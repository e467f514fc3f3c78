import { objectKey, silentLog } from "@drover/controller";
import { processTimers } from "@drover/timers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepLeases, type Lease, type LeaseKeeper } from "./lease-keeper.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openMemoryLedger } from "../memory/memory-ledger.ts";

const key = objectKey({ namespace: "default", name: "photos" });
const times = { lease: 6_000, renewal: 500, recoveryWindow: 1_500 };

let ledger: Ledger;
let answers: boolean;
let renewals: number;
/** How long the answer to a renewal is on its way. */
let late: number;
/** Another name is another server, which has the same data. */
let server: string;
let keeper: LeaseKeeper;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  const memory = openMemoryLedger({
    ...times,
    recoveryWindow: 400,
    now: () => Math.floor(performance.now()),
    server: () => server,
  });
  answers = true;
  server = "one";
  renewals = 0;
  late = 0;
  ledger = {
    ...memory,
    async renew(leases) {
      renewals++;
      if (!answers) throw new Error("Redis is away");
      const renewal = await memory.renew(leases);
      if (late > 0) await new Promise((resolve) => setTimeout(resolve, late));
      return renewal;
    },
  };
  keeper = keepLeases({ ledger, ...times, timers: processTimers, log: silentLog });
});
afterEach(() => {
  keeper.stop();
  vi.useRealTimers();
});

/** Claims the key and keeps its lease; `lost` tells why it was given up. */
async function claimed(): Promise<{ lease: Lease; lost: () => string | undefined }> {
  await ledger.dispatch();
  await vi.advanceTimersByTimeAsync(times.renewal + 10); // its recovery window ends
  const askedAt = performance.now();
  expect(await ledger.claim(key, "t")).toHaveProperty("claimed");
  let why: string | undefined;
  const lease = keeper.keep({ key, token: "t", askedAt }, (reason) => (why = reason.message));
  return { lease, lost: () => why };
}

it("keeps a lease for as long as it is not released", async () => {
  const { lease, lost } = await claimed();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lease.isHeld()).toBe(true);
  expect(lost()).toBeUndefined();
  expect(await ledger.claim(key, "u")).toEqual({ refused: "leased" });
  lease.release();
  expect(lease.isHeld()).toBe(false);
  await vi.advanceTimersByTimeAsync(times.lease);
  expect(await ledger.claim(key, "u")).not.toEqual({ refused: "leased" });
});

it("holds nothing while the ledger is silent for the length of the recovery window, and again when it answers", async () => {
  const { lease, lost } = await claimed();
  answers = false;
  await vi.advanceTimersByTimeAsync(times.recoveryWindow - 1);
  expect(lease.isHeld()).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(lease.isHeld()).toBe(false);
  expect(lost()).toBeUndefined();
  answers = true;
  await vi.advanceTimersByTimeAsync(times.renewal);
  expect(lease.isHeld()).toBe(true);
});

it("tells a run to stop before its lease can end", async () => {
  const { lease, lost } = await claimed();
  answers = false;
  await vi.advanceTimersByTimeAsync(times.lease - times.renewal / 2);
  expect(lost()).toMatch(/is about to end/);
  expect(lease.isHeld()).toBe(false);
  expect(await ledger.claim(key, "u")).toEqual({ refused: "leased" });
});

it("tells all runs to stop whose leases are about to end", async () => {
  answers = false;
  const lost: string[] = [];
  const askedAt = performance.now();
  for (const token of ["a", "b", "c", "d", "e"])
    keeper.keep({ key, token, askedAt }, () => void lost.push(token));
  await vi.advanceTimersByTimeAsync(times.lease - times.renewal / 2);
  expect(lost).toEqual(["a", "b", "c", "d", "e"]);
});

it("tells a run to stop whose key somebody else has", async () => {
  const { lease, lost } = await claimed();
  await ledger.settle(key, "t", { kind: "interrupted" });
  await vi.advanceTimersByTimeAsync(times.renewal);
  expect(lost()).toMatch(/was taken over/);
  expect(lease.isHeld()).toBe(false);
});

it("does not renew a lease that may have ended: the process was paused", async () => {
  const { lost } = await claimed();
  const before = renewals;
  const real = performance.now();
  const later = vi.spyOn(performance, "now").mockImplementation(() => real + times.lease);
  await vi.advanceTimersByTimeAsync(times.renewal);
  expect(lost()).toMatch(/is about to end/);
  expect(renewals).toBe(before);
  later.mockRestore();
});

it("counts a renewed lease from when it was asked for, however late the answer comes", async () => {
  const { lease, lost } = await claimed();
  late = 1_400;
  await vi.advanceTimersByTimeAsync(times.renewal + late - 1);
  // Its answer is the last one that comes.
  answers = false;
  await vi.advanceTimersByTimeAsync(1);
  expect(lease.isHeld()).toBe(true);
  await vi.advanceTimersByTimeAsync(times.recoveryWindow - late);
  expect(lease.isHeld()).toBe(false);
  while (lost() === undefined) await vi.advanceTimersByTimeAsync(times.renewal / 2);
  expect(await ledger.claim(key, "u")).toEqual({ refused: "leased" });
});

/** The server of the moment has lost its data, and assigns keys again; then another one takes its place. */
async function takenOver(): Promise<void> {
  await ledger.settle(key, "t", { kind: "interrupted" });
  expect(await ledger.claim(key, "u")).toHaveProperty("claimed");
  await ledger.settle(key, "u", { kind: "done" });
  server = "two";
}

it("lets a run go on that a new server did not know of and hears of in time", async () => {
  const { lease, lost } = await claimed();
  await takenOver();
  await vi.advanceTimersByTimeAsync(times.renewal);
  expect(lease.isHeld()).toBe(true);
  // It is known from then on: a silence is but a silence.
  answers = false;
  await vi.advanceTimersByTimeAsync(times.recoveryWindow);
  answers = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([lease.isHeld(), lost()]).toEqual([true, undefined]);
});

it.each([
  [
    "which was silent for the length of the recovery window",
    () => void (answers = false),
    () => void (answers = true),
  ],
  [
    "whose answer to that took the length of the recovery window",
    () => void (late = times.recoveryWindow),
    () => void (late = 0),
  ],
])("tells a run to stop that a new server did not know of, %s", async (_, begin, end) => {
  const { lease, lost } = await claimed();
  begin();
  await vi.advanceTimersByTimeAsync(times.recoveryWindow);
  await takenOver();
  end();
  await vi.advanceTimersByTimeAsync(2 * times.renewal + times.recoveryWindow);
  expect(lost()).toMatch(/is missing on a server that took over/);
  expect(lease.isHeld()).toBe(false);
});

it("lets a run go on that a new server knows of, though it was silent for the length of the recovery window", async () => {
  const { lease, lost } = await claimed();
  answers = false;
  await vi.advanceTimersByTimeAsync(times.recoveryWindow);
  server = "two";
  answers = true;
  await vi.advanceTimersByTimeAsync(times.renewal);
  expect([lease.isHeld(), lost()]).toEqual([true, undefined]);
});
