import { expect, it } from "vitest";
import { tokenBucket } from "./token-bucket.ts";

it("so many may pass at once, and after that as many as come back with time, no more than at once", () => {
  let now = 5_000;
  const bucket = tokenBucket({ perSecond: 2, burst: 3 }, () => now);
  const passing = (): number => {
    let passed = 0;
    while (bucket.take()) passed++;
    return passed;
  };
  expect(passing()).toBe(3);
  now += 499;
  expect(passing()).toBe(0);
  now += 1;
  expect(passing()).toBe(1);
  now += 750;
  expect(passing()).toBe(1);
  now += 250;
  expect(passing()).toBe(1);
  now += 3_600_000;
  expect(passing()).toBe(3);
});
