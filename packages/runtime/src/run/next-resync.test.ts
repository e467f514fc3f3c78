import type { ObjectKey } from "@drover/controller";
import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { nextResync } from "./next-resync.ts";

const every = 3_600_000;
const keys: readonly ObjectKey[] = Array.from({ length: 200 }, (_, i) => objectKey({ name: `o${i}` }));
const at = (now: number, scalesToZero: boolean) =>
  keys.map((key, i) => now + nextResync({ key, every, scalesToZero }, new Date(now), i / keys.length));

it("spreads resyncs over a tenth of the period", () => {
  const times = at(0, false);
  expect(Math.min(...times)).toBe(every * 0.9);
  expect(Math.max(...times)).toBeLessThanOrEqual(every);
  expect(new Set(times).size).toBeGreaterThan(190);
});

it("wakes a function that scales to zero four times a period, for any time of the last runs", () => {
  const times = [0, 1, 123_456, 900_000, 3_599_999].flatMap((now) => at(1_000 * every + now, true));
  const withinPeriod = new Set(times.map((time) => time % every));
  expect([...withinPeriod].sort((a, b) => a - b)).toEqual([0, 900_000, 1_800_000, 2_700_000]);
});

it("waits for more than zero and at most a period", () => {
  const now = 1_000 * every;
  const waits = at(now, true).map((time) => time - now);
  expect(Math.min(...waits)).toBeGreaterThan(0);
  expect(Math.max(...waits)).toBeLessThanOrEqual(every);
});
