import { expect, it } from "vitest";
import { type QueueLoad, podsWanted } from "./pods-wanted.ts";

const idle: QueueLoad = { due: 0, oldestDue: 0, running: 0, runTime: 100 };
const wanted = (
  load: Partial<QueueLoad>,
  {
    min = 0,
    max = 10,
    targetDue,
    pods = 1,
  }: { min?: number; max?: number; targetDue?: number; pods?: number } = {},
) => podsWanted({ ...idle, ...load }, { min, max, targetDue }, { concurrency: 8, pods });

it("is the least that there may be, where nothing is to be done", () => {
  expect(wanted({})).toBe(0);
  expect(wanted({}, { min: 2 })).toBe(2);
});

it("is one for the first key, and while the run time is unknown", () => {
  expect(wanted({ due: 1 })).toBe(1);
  expect(wanted({ due: 100_000, runTime: 0 })).toBe(1);
});

it("is as many as get through what is due in 5 s, by how long runs take", () => {
  // 8 at once, 100 ms each: 400 keys in 5 s.
  expect(wanted({ due: 400 })).toBe(1);
  expect(wanted({ due: 401 })).toBe(2);
  expect(wanted({ due: 390, running: 11 })).toBe(2);
  // A run that takes 10 s: one Pod for every 8 keys.
  expect(wanted({ due: 24, runTime: 10_000 })).toBe(3);
});

it("goes by targetDue, where that is given, and never beyond max", () => {
  expect(wanted({ due: 95 }, { targetDue: 10 })).toBe(10);
  expect(wanted({ due: 1_000_000 }, { targetDue: 10 })).toBe(10);
});

it("is one more than there are, when keys grow old though all are busy", () => {
  expect(wanted({ due: 10, oldestDue: 31_000, running: 16 }, { pods: 2 })).toBe(3);
  // Not when they are not: more Pods would not help.
  expect(wanted({ due: 10, oldestDue: 31_000, running: 15 }, { pods: 2 })).toBe(1);
});
