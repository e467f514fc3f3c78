import { afterAll, beforeAll, expect, it } from "vitest";
import { runSchedule } from "./run-schedule.ts";
import type { Schedule } from "./schedule.ts";
import { simulate } from "./simulate.ts";
import { type SimulationServer, startSimulationServer } from "./simulation-server.ts";

let server: SimulationServer;
beforeAll(async () => (server = await startSimulationServer()));
afterAll(() => server.close());

const schedules = 1_000;

it(
  `keeps its promises in ${schedules} random schedules of producers, workers, crashes and lost servers`,
  { timeout: 600_000 },
  async () => {
    const { crashed, branches, broken, ...report } = await simulate(server, { schedules, seed: 1 });
    expect(broken?.error.message).toBeUndefined();
    expect(report.schedules).toBe(schedules);
    expect(crashed).toBeGreaterThan(schedules / 2);
    expect(report.cachedObjects).toBeGreaterThan(schedules / 4);
    expect(report.cachedLists).toBeGreaterThan(schedules / 8);
    expect(report.first).toBeGreaterThan(schedules / 16);
    expect(report.assigned).toBeGreaterThan(schedules / 4);
    console.log(`${branches.taken} of ${branches.all} branches taken; not: ${branches.missed.join("; ")}`);
  },
);

it("gives the same trace for the same schedule", async () => {
  const schedule: Schedule = [
    { do: "change", key: 0, recreate: false },
    { do: "deliver", producer: 0, class: "change", fault: "answer lost" },
    { do: "receive", worker: 0, fault: "answer lost" },
    { do: "fail over" },
    { do: "take", worker: 0, fault: "none" },
    { do: "advance", ms: 700 },
    { do: "finish", worker: 0, outcome: { kind: "retry", error: "no" }, fault: "dies after" },
  ];
  const trace = await runSchedule(server, schedule);
  expect(trace.length).toBeGreaterThan(10);
  expect(await runSchedule(server, schedule)).toEqual(trace);
});
