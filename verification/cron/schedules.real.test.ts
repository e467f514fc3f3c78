import { expect, it } from "vitest";
import { compareSchedules } from "./compare-schedules.ts";

// Enough to see that it works; `npm run cron` compares as many as one likes.
it("the times of schedules are those of robfig/cron", { timeout: 600_000 }, async () => {
  const { differing, times, refused } = await compareSchedules(500, 1);
  expect(differing).toEqual([]);
  expect(times).toBeGreaterThan(1_500);
  expect(refused).toBeGreaterThan(5);
});
