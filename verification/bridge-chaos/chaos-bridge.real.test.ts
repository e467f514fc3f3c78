import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServers, startTestServers } from "./test-servers.ts";
import { runSchedule } from "./run-schedule.ts";
import { randomSchedule } from "./schedules/random-schedule.ts";
import { report } from "./report.ts";
import { faultKinds, silentFaults } from "./schedules/schedule.ts";

/** As many as a minute has room for; the other faults have their turn in the longer runs. */
const schedules = 12;
const lanes = 4;
const seed = 1;
const kinds = faultKinds.filter((kind) => !silentFaults.includes(kind));

let servers: TestServers;
beforeAll(async () => (servers = await startTestServers(lanes)), 600_000);
afterAll(() => servers.close());

// Each test has a lane to itself, and takes every fourth schedule.
describe.concurrent("the bridge, before a real API server, loses no change", () => {
  it.each(Array.from({ length: lanes }, (_, lane) => lane))(
    "in every fourth schedule from %i on",
    async (number) => {
      const lane = servers.lanes[number];
      if (lane === undefined) throw new Error(`There is no lane ${number}.`);
      for (let index = number; index < schedules; index += lanes) {
        const schedule = randomSchedule(seed, index, kinds, 2);
        const outcome = await runSchedule(schedule, { ...servers, lane });
        const { violations } = outcome;
        const found = violations.length === 0 ? "" : report({ seed, index, schedule, outcome });
        expect(violations, found).toEqual([]);
        await outcome.dispose();
      }
    },
    300_000,
  );
});
