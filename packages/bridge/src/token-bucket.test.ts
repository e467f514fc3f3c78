import { expect, it } from "vitest";
import { tokenBucket } from "./token-bucket.ts";

it("lets a burst pass, and after that the rate per second, never more than a burst", () => {
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
