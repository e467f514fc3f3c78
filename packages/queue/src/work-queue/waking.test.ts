import { objectKey, type ObjectKey } from "@drover/controller";
import { VirtualTimers } from "@drover/timers";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Ledger } from "../ledger/ledger.ts";
import { maxDeltaBytes } from "../cache/cache-bounds.ts";
import { openMemoryJobQueue } from "../worker/memory-job-queue.fixture.ts";
import { type MemoryWorkQueueParts, openMemoryWorkQueue } from "../worker/memory-work-queue.fixture.ts";
import { wakeOf } from "./work-queue.contract.ts";
import type { Wake, WorkQueue } from "./work-queue.ts";

// How wakes, pauses and other words of the ledger's callers reach it.
const times = { lease: 6_000, renewal: 500, recoveryWindow: 1_500 };
const key = objectKey({ namespace: "a", name: "b" });

let clock: VirtualTimers;
let ledger: Ledger;
let received: (readonly Wake[])[];
let added: ObjectKey[];
let incarnations: string[];
let server: string;
/** The end of the ledger's scrubber. */
const stopScrubber = vi.fn();
const queues: WorkQueue[] = [];

beforeEach(() => {
  [received, added, incarnations, server] = [[], [], [], "first"];
  clock = new VirtualTimers(1_000_000);
});
afterEach(async () => {
  await settled(...queues.splice(0).map((queue) => queue.close()));
});

async function open(parts: Partial<MemoryWorkQueueParts> = {}): Promise<WorkQueue> {
  const queue = openMemoryWorkQueue({
    environment: { now: () => Math.floor(clock.now()), server: () => server },
    intercept(memory) {
      const wake = memory.wake.bind(memory);
      ledger = {
        ...memory,
        wake(wakes, force) {
          received.push(wakes);
          return wake(wakes, force);
        },
      };
      return ledger;
    },
    scrubber: { step: () => Promise.resolve(), stop: stopScrubber },
    jobQueue: {
      ...openMemoryJobQueue(),
      add: (jobs) => Promise.resolve(void added.push(...jobs.map((job) => job.key))),
    },
    timers: clock,
    times,
    onIncarnation: (incarnation) => void incarnations.push(incarnation),
    ...parts,
  });
  queues.push(queue);
  await ledger.count(); // it begins
  await pass(2 * times.recoveryWindow);
  return queue;
}
async function pass(span: number): Promise<void> {
  const end = clock.now() + span;
  do for (let turn = 0; turn < 4; turn++) await nextTurn();
  while (clock.step(end));
}
/** Waits while the clock goes on. */
async function settled(...work: readonly Promise<unknown>[]): Promise<void> {
  const over = vi.fn();
  void Promise.allSettled(work).then(over);
  for (let i = 0; i < 200 && over.mock.calls.length === 0; i++) await pass(100);
  expect(over).toHaveBeenCalled();
}

it.each([
  ["many", Array.from({ length: 450 }, () => 0), [200, 200, 50]],
  ["as many as fit", Array.from({ length: 200 }, () => 0), [200]],
  ["large ones", [60_000, 60_000, 60_000, 60_000, 10], [2, 3]],
  ["one that is larger than a call takes", [10, 200_000, 10], [1, 1, 1]],
])("all wakes reach the ledger, in their order, in calls that it takes: %s", async (_, sizes, calls) => {
  const queue = await open();
  const wakes = sizes.map((size, i) => ({
    ...wakeOf(objectKey({ name: `n${i}` })),
    ...(size > 0 && { cachedObject: "c".repeat(size) }),
  }));
  await queue.wake(wakes);
  expect(received.flat()).toEqual(wakes);
  expect(received.map(({ length }) => length)).toEqual(calls);
});

it.each([
  ["as long as they may be", "n".repeat(maxDeltaBytes), true],
  ["longer", "n".repeat(maxDeltaBytes + 1), false],
  ["as many letters, in more bytes", "\u{e9}".repeat(maxDeltaBytes), false],
])("deltas are sent with their text where a key may be given them: %s", async (_, news, isSent) => {
  const queue = await open();
  await queue.wake([{ ...wakeOf(key), delta: news }]);
  expect(received).toEqual([[{ ...wakeOf(key), delta: isSent ? news : "" }]]);
});

it("a queue that is closed ends the wait for a wake, also where its caller would wait on", async () => {
  const queue = await open();
  vi.spyOn(ledger, "wake").mockRejectedValue(new Error("OOM"));
  const waking = queue.wake([wakeOf(key)], { signal: new AbortController().signal });
  const refused = expect(waking).rejects.toThrow(
    "The queue of buckets was closed before Redis recorded a wake.",
  );
  await pass(1_000);
  await settled(queue.close(), refused);
});

it("a wake that Redis refused is recorded within a second after it does not refuse it any more", async () => {
  const queue = await open();
  const refusing = vi.spyOn(ledger, "wake").mockRejectedValue(new Error("OOM"));
  const waking = queue.wake([wakeOf(key)]);
  await pass(600_000);
  refusing.mockRestore();
  await pass(1_000);
  expect(received).toEqual([[wakeOf(key)]]);
  await waking;
});

it("a wake that Redis refused is sent once, for a caller that wants no retry", async () => {
  const queue = await open();
  const refusing = vi.spyOn(ledger, "wake").mockRejectedValue(new Error("OOM"));
  await expect(queue.wake([wakeOf(key)], { retry: false })).rejects.toThrow("OOM");
  expect(refusing).toHaveBeenCalledTimes(1);
  refusing.mockRestore();
});

it("what is forced comes before what was listed; all that are known come as if they were listed, and go on", async () => {
  const queue = await open({ keys: () => Readable.from([[key], [objectKey({ name: "other" })]]) });
  await queue.force([key]);
  expect(received).toMatchObject([[{ key, class: "change" }]]);
  received = [];
  await queue.forceAll();
  const listed = { class: "listing", paused: false };
  expect(received).toMatchObject([[{ key, ...listed }], [{ key: "other", ...listed }]]);
});

it("no timer is left of an answer that came in time", async () => {
  const queue = await open();
  const [set, cleared] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
  await queue.stats(54_321);
  await queue.ping(54_321);
  const timers = set.mock.results.filter((_, i) => set.mock.calls[i]?.[1] === 54_321);
  expect(timers).toHaveLength(2);
  for (const { value } of timers) expect(cleared).toHaveBeenCalledWith(value);
  vi.restoreAllMocks();
});

it("a key that is woken, or goes on after a pause, gets a job at once", async () => {
  const queue = await open({ hasDispatcher: false });
  const other = objectKey({ namespace: "b", name: "c" });
  await ledger.registerWorker({
    worker: "w",
    slots: 5,
    version: 0,
    lasts: 1_000_000,
    accounts: {},
    backoff: { first: 1, longest: 1 },
  });
  for (const scope of [{ kind: "controller" }, { kind: "namespace", namespace: "a" }] as const) {
    await queue.pause(scope, "tests");
    await queue.wake([wakeOf(key)]);
    expect(added).toEqual([]);
    await queue.resume(scope);
    expect(added).toEqual([key]);
    await ledger.claim(key, scope.kind);
    await ledger.settle(key, scope.kind, { kind: "done" });
    added = [];
  }
  await queue.wake([wakeOf(other)]);
  expect(added).toEqual([other]);
});

it("keys are listed page by page", async () => {
  const queue = await open();
  const keys = ["x", "y", "z"].map((name) => objectKey({ name }));
  await queue.pause({ kind: "controller" }, "tests");
  await queue.wake(keys.map(wakeOf));
  const first = await queue.list("ready", { limit: 2 });
  const second = await queue.list("ready", { limit: 2, after: first.next });
  expect([first, second].map((page) => page.keys.map((report) => report.key))).toEqual([["x", "y"], ["z"]]);
});

it("the key of a worker that died is due again within seven seconds, by default", async () => {
  const queue = await open({ times: {} });
  await queue.wake([wakeOf(key)]);
  await ledger.claim(key, "of one that has died");
  await pass(5_000);
  expect(await queue.stats(1_000)).toMatchObject({ due: 0, running: 1 });
  await pass(2_000);
  expect(await queue.stats(1_000)).toMatchObject({ due: 1, running: 0 });
});

it("reports another server, each time, and not the first one", async () => {
  const queue = await open();
  await queue.stats(1_000);
  expect(incarnations).toEqual([]);
  for (const name of ["second", "third"]) {
    server = name;
    await queue.stats(1_000);
  }
  expect(incarnations).toHaveLength(2);
});

it("says of which data others' may be: on one server since these began, on a cluster since this server has them", async () => {
  const [one, cluster] = [await open(), await open({ onCluster: true })];
  const [before, beforeOnCluster] = [await one.firstIncarnation(), await cluster.firstIncarnation()];
  server = "second";
  expect(await cluster.firstIncarnation()).not.toBe(beforeOnCluster);
  expect(await one.firstIncarnation()).toBe(before);
});

it("the time of a server that took over is one after its recovery window", async () => {
  const queue = await open({ hasDispatcher: false });
  server = "second";
  const since = clock.now();
  const time = queue.time();
  await settled(time);
  expect((await time).at).toBeGreaterThanOrEqual(since + times.recoveryWindow);
});

it("nothing is left of a queue that is closed", async () => {
  const queue = await open();
  stopScrubber.mockClear();
  await settled(queue.close());
  expect(stopScrubber).toHaveBeenCalledTimes(1);
  expect(clock.next).toBeUndefined();
});
