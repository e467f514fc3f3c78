import { type CampaignProgress, objectKey, silentLog } from "@drover/controller";
import type { CampaignRecord } from "./campaign-store.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type CampaignOptions, runCampaign } from "./run-campaign.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const keys = Array.from({ length: 120 }, (_, i) => objectKey({ name: `o${i}` }));
const startedAt = Date.parse("2026-01-01T00:00:00Z");
const iso = (time: number) => new Date(time).toISOString();

/** A campaign of 120 objects; `woken` counts wakes by their time, ms. Leaving the scope stops it. */
function campaign(more: Partial<CampaignOptions["campaign"]> = {}, begun: CampaignRecord = { startedAt }) {
  const from = Date.now();
  const wakes = new Map<string, number[]>();
  const ran = new Set<string>();
  const reported: CampaignProgress[] = [];
  const finished: unknown[] = [];
  const stop = new AbortController();
  const done = runCampaign({
    id: { controller: "c", of: "all", name: "june" },
    campaign: { name: "june", ...more },
    async *keys() {
      yield* await Promise.resolve([keys.slice(0, 70), keys.slice(70)]);
    },
    kind: "things",
    log: silentLog,
    signal: stop.signal,
    queue: {
      wake: (some) => {
        for (const { key } of some) {
          const at = Date.now() - from;
          wakes.set(key, [...(wakes.get(key) ?? []), at]);
        }
        return Promise.resolve();
      },
      notRunSince: (some) => Promise.resolve({ now: 77, keys: some.filter((key) => !ran.has(key)) }),
    },
    store: {
      begin: (_id, now) => (reported.length === 0 && expect(now).toBe(77), Promise.resolve(begun)),
      finish: (_id, how) => Promise.resolve(void finished.push(how)),
    },
    onProgress: (progress) => void reported.push(progress),
  });
  const woken = () =>
    Object.fromEntries(
      Map.groupBy([...wakes.values()].flat(), String)
        .entries()
        .map(([at, of]) => [at, of.length]),
    );
  const stopped = () => (stop.abort(), done);
  return { ran, finished, done, woken, reported, [Symbol.asyncDispose]: stopped };
}
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

it("wakes at the declared rate, and wakes keys without a run again after ten seconds", async () => {
  await using running = campaign({ perSecond: 50 });
  const { woken, reported } = running;
  await seconds(10);
  expect(woken()).toEqual({ 0: 50, 1000: 20, 1400: 50 });
  expect(reported.at(-1)).toMatchObject({
    state: "Running",
    startedAt: iso(startedAt),
    total: 120,
    left: 120,
  });
  await seconds(10);
  expect(woken()).toEqual({ 0: 50, 1000: 20, 1400: 50, 13400: 50, 14400: 20, 14800: 50 });
});

it("wakes fifty keys a second by default, and none that has run since it began", async () => {
  await using running = campaign();
  const { ran, woken, reported } = running;
  for (const key of keys.slice(0, 60)) ran.add(key);
  await seconds(5);
  expect(woken()).toEqual({ 0: 10, 200: 50 });
  expect(reported.at(-1)).toMatchObject({ total: 120, left: 60 });
});

it("reports how many keys are left, and zero only after it has counted again", async () => {
  await using running = campaign({ perSecond: 60 });
  const { reported } = running;
  await seconds(2);
  expect(reported.map(({ left }) => left)).toEqual([120, 60, 50, 1]);
});

it("is done when each object has had a run, by the queue's clock", async () => {
  const { ran, finished, reported, done } = campaign({ perSecond: 1_000 });
  await seconds(2);
  for (const key of keys) ran.add(key);
  await seconds(2);
  await done;
  expect(finished).toEqual([{ at: 77, total: 120 }]);
  expect(reported.at(-1)).toEqual({
    name: "june",
    state: "Done",
    startedAt: iso(startedAt),
    doneAt: iso(77),
    total: 120,
    left: 0,
  });
});

it("that was done before wakes no keys, and reports when it was done", async () => {
  const { reported, woken, done } = campaign({}, { startedAt, done: { at: startedAt + 5_000, total: 9 } });
  await done;
  expect(woken()).toEqual({});
  expect(reported).toEqual([
    {
      name: "june",
      state: "Done",
      startedAt: iso(startedAt),
      doneAt: iso(startedAt + 5_000),
      total: 9,
      left: 0,
    },
  ]);
});

it.each([
  [true, "Paused", 0],
  [false, "Running", 120],
])("with paused: %s it is %s, and wakes %i", async (paused, state, count) => {
  await using running = campaign({ paused, perSecond: 1_000 });
  const { reported, woken } = running;
  await seconds(5);
  expect(reported.at(-1)).toMatchObject({ state, total: 120 });
  expect(Object.values(woken()).reduce((a, b) => a + b, 0)).toBe(count);
});
