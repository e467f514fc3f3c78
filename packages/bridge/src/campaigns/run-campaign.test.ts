import { type CampaignProgress, objectKey, silentLog } from "@drover/controller";
import type { CampaignRecord } from "./campaign-store.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type CampaignOptions, runCampaign } from "./run-campaign.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const keys = Array.from({ length: 120 }, (_, i) => objectKey({ name: `o${i}` }));
const startedAt = Date.parse("2026-01-01T00:00:00Z");
const iso = (time: number) => new Date(time).toISOString();

/** A campaign of 120 objects; `wakes` is when each was woken, ms, and `progress` what was said last. */
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
  return { ran, finished, stop, done, woken, reported };
}
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

it("wakes so many a second, and those that have not run once more after ten seconds", async () => {
  const { woken, reported, stop, done } = campaign({ perSecond: 50 });
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
  stop.abort();
  await done;
});

it("wakes fifty a second where it does not say how many, and none that has run since it began", async () => {
  const { ran, woken, reported, stop, done } = campaign();
  for (const key of keys.slice(0, 60)) ran.add(key);
  await seconds(5);
  expect(woken()).toEqual({ 0: 10, 200: 50 });
  expect(reported.at(-1)).toMatchObject({ total: 120, left: 60 });
  stop.abort();
  await done;
});

it("says while it wakes how many are left, and never that none is before it has counted again", async () => {
  const { reported, stop, done } = campaign({ perSecond: 60 });
  await seconds(2);
  expect(reported.map(({ left }) => left)).toEqual([120, 60, 50, 1]);
  stop.abort();
  await done;
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

it("that was done before it wakes nobody, and says when that was", async () => {
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
  const { reported, woken, stop, done } = campaign({ paused, perSecond: 1_000 });
  await seconds(5);
  expect(reported.at(-1)).toMatchObject({ state, total: 120 });
  expect(Object.values(woken()).reduce((a, b) => a + b, 0)).toBe(count);
  stop.abort();
  await done;
});
