import { expect, it } from "vitest";
import { restartDelay } from "./restart-delay.ts";

it("doubles up to the most, and begins anew after a long run", () => {
  const delayOf = restartDelay({ first: 100, most: 500 });
  expect([delayOf(0), delayOf(900), delayOf(10), delayOf(0), delayOf(0)]).toEqual([100, 200, 400, 500, 500]);
  expect([delayOf(1001), delayOf(0)]).toEqual([100, 200]);
});
