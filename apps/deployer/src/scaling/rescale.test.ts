import { expect, it } from "vitest";
import { idleLeft, rescale, type ScalingState } from "./rescale.ts";

const idleAfter = 60_000;
const at = (seconds: number) => new Date(1_000 * seconds);
/** What comes of these figures, one every 10 s. */
const after = (...figures: readonly number[]): ScalingState | undefined =>
  figures.reduce<ScalingState | undefined>(
    (before, wanted, i) => rescale(before, wanted, { idleAfter, now: at(10 * i) }),
    undefined,
  );

it("grows at once", () => {
  expect(after(0, 1, 5)).toEqual({ wanted: 5 });
});

it("shrinks only after fewer were wanted for a while, to the most that were wanted in it", () => {
  expect(after(5, 1)).toEqual({ wanted: 5, fewerSince: at(10).toISOString(), fewer: 1 });
  expect(after(5, 1, 3, 0, 0, 0, 0)).toMatchObject({ wanted: 5, fewer: 3 });
  expect(after(5, 1, 3, 0, 0, 0, 0, 0)).toEqual({ wanted: 3 });
  expect(after(5, 0, 0, 0, 0, 0, 0, 0)).toEqual({ wanted: 0 });
});

it("forgets that fewer were enough, as soon as they are not", () => {
  expect(after(5, 0, 0, 0, 0, 5, 0, 0)).toMatchObject({ wanted: 5, fewerSince: at(60).toISOString() });
});

it("returns the time until fewer Pods are allowed", () => {
  const now = at(30);
  expect(idleLeft({ fewerSince: at(10).toISOString() }, { idleAfter, now })).toBe(40_000);
  expect(idleLeft({}, { idleAfter, now })).toBe(Infinity);
});

it("waits no longer than usual after a deployer whose clock was ahead", () => {
  const before = { wanted: 5, fewerSince: at(420).toISOString(), fewer: 1 };
  const next = rescale(before, 1, { idleAfter, now: at(10) });
  expect(next).toEqual({ wanted: 5, fewerSince: at(10).toISOString(), fewer: 1 });
  expect(rescale(next, 1, { idleAfter, now: at(70) })).toEqual({ wanted: 1 });
});
