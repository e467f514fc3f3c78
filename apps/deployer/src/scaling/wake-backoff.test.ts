import { objectKey } from "@drover/controller";
import { expect, it } from "vitest";
import { wakeBackoff } from "./wake-backoff.ts";

const key = objectKey({ namespace: "a", name: "gadgets" });
/** How often it is woken from one time to another, looked at every 250 ms. */
function wakesBetween(wakes: ReturnType<typeof wakeBackoff>, from: number, to: number, what = "1 Pod") {
  let count = 0;
  for (let now = from; now < to; now += 250) if (wakes.isDue(key, what, now)) count++;
  return count;
}

it("wakes at once, and for the same thing again ever more seldom, but always again", () => {
  const wakes = wakeBackoff();
  expect(wakesBetween(wakes, 0, 250)).toBe(1);
  expect(wakesBetween(wakes, 250, 1_000)).toBe(2);
  expect(wakesBetween(wakes, 1_000, 60_000)).toBeLessThan(8);
  expect(wakesBetween(wakes, 600_000, 1_200_000)).toBe(10);
});

it("wakes at once for another thing, and for the same one when it has been settled", () => {
  const wakes = wakeBackoff();
  wakesBetween(wakes, 0, 60_000);
  expect(wakes.isDue(key, "2 Pods", 60_000)).toBe(true);
  wakes.forget(key);
  expect(wakes.isDue(key, "2 Pods", 60_001)).toBe(true);
});
