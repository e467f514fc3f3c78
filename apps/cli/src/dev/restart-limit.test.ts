import { expect, it } from "vitest";
import { restartLimit } from "./restart-limit.ts";

it("delays restarts for a file that changes soon after each start, ever longer, and no others", () => {
  const slow: string[] = [];
  let now = 0;
  const limit = restartLimit(
    () => now,
    (file) => void slow.push(file),
  );
  const delays = (times: number, after: number, file: string): readonly number[] =>
    Array.from({ length: times }, () => {
      limit.started();
      now += after;
      return limit.delayFor([file]);
    });
  expect(delays(10, 100, "own.json")).toEqual([0, 0, 0, 0, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(slow).toEqual(["own.json"]);
  expect(delays(10, 3_000, "code.ts")).toEqual(Array(10).fill(0));
  // A pause ends the series.
  expect(delays(1, 3_000, "own.json")).toEqual([0]);
  expect(delays(4, 100, "own.json")).toEqual([0, 0, 0, 0]);
});
