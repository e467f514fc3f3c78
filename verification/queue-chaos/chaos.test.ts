import { beforeAll, describe, expect, it } from "vitest";
import { compileOnce } from "./processes/start-processes.ts";
import { runSchedule } from "./run-schedule.ts";
import { randomSchedule } from "./schedules/random-schedule.ts";
import { report } from "./report.ts";
import { faultKinds, type Schedule } from "./schedules/schedule.ts";

const seed = 1;

/** Where one thing is to be shown, and chance would show it seldom. */
const aimed: Readonly<Record<string, Schedule>> = {
  "wakes without end for a key that always fails": {
    workers: 2,
    producers: 1,
    concurrency: 2,
    behaviours: ["fails", "works"],
    doomed: [],
    steps: [
      { do: "change", keys: [0, 1], by: "producer-0" },
      { do: "runs", count: 4 },
      { do: "storm", key: 0, times: 400, by: "producer-0" },
    ],
  },
  "jobs for keys that run": {
    workers: 2,
    producers: 1,
    concurrency: 3,
    behaviours: ["long", "slow", "slow", "works"],
    doomed: [],
    steps: [
      { do: "change", keys: [0, 1, 2, 3], by: "producer-0" },
      { do: "runs", count: 3 },
      { do: "jobs-forge", times: 20, meanwhile: [1, 2] },
    ],
  },
};

async function expectNoViolation(schedule: Schedule, index: number): Promise<void> {
  const outcome = await runSchedule(schedule);
  const { violations } = outcome;
  expect(violations, violations.length === 0 ? "" : report({ seed, index, schedule, outcome })).toEqual([]);
  await outcome.dispose();
}

beforeAll(compileOnce);

describe.concurrent("the queue, in real processes, keeps its promises through", { timeout: 180_000 }, () => {
  it.each(faultKinds)("%s", async (kind) => {
    const index = faultKinds.indexOf(kind);
    await expectNoViolation(randomSchedule(seed, index, [kind], 1), index);
  });
  it.each(Object.entries(aimed))("%s", async (_, schedule) => expectNoViolation(schedule, 0));
});
