/**
 * Random schedules on the shipped scripts, a real Redis and the shipped worker, until one of them breaks a promise.
 * Worker processes (`simulated-process`) are complete: slots, runner, leases and dispatcher run on clocks that differ, and
 * stand still until the schedule moves them. `simulated-producer` stands for the bridge. `oracle` keeps what really
 * happened, and checks promises against it.
 *
 * ```
 * npm run simulate -- --schedules 20000 --seed 1
 * npm run simulate -- --replay '[{"do":"change","key":0,"recreate":false}]'
 * ```
 */
import { parseArgs } from "node:util";
import { wholeNumber } from "../harness/whole-number.ts";
import { BrokenPromise, runSchedule } from "./run-schedule.ts";
import type { Schedule } from "./schedule.ts";
import { simulate } from "./simulate.ts";
import { startSimulationServer } from "./simulation-server.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "20000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    replay: { type: "string" },
  },
});

const server = await startSimulationServer();
try {
  process.exitCode = await (values.replay === undefined ? many() : one(values.replay));
} finally {
  await server.close();
}

async function many(): Promise<number> {
  const schedules = wholeNumber("schedules", values.schedules, 1);
  const seed = wholeNumber("seed", values.seed);
  const started = performance.now();
  const { branches, broken, ...counts } = await simulate(server, { schedules, seed });
  const { schedules: ran, crashed, cachedObjects, cachedLists, first, assigned } = counts;
  if (broken) {
    console.log(broken.error.message);
    console.log(`Again: npm run simulate -- --replay '${JSON.stringify(broken.schedule)}'`);
  }
  if (branches.missed.length > 0) console.log(`Never taken:\n  ${branches.missed.join("\n  ")}`);
  console.log(
    `${ran} schedules, seed ${seed}: ${broken ? 1 : 0} violations; ${crashed} with a crash ` +
      `(${Math.round((100 * crashed) / ran)} %); ${cachedObjects} runs with a cached object, ${cachedLists} with cached lists, ${first} first of their objects, ${assigned} assigned to an idle slot; ${branches.taken} of ${branches.all} branches of the scripts; ` +
      `${Math.round((performance.now() - started) / 1_000)} s`,
  );
  return broken ? 1 : 0;
}

async function one(json: string): Promise<number> {
  const schedule = JSON.parse(json) as Schedule;
  try {
    console.log((await runSchedule(server, schedule)).join("\n"));
    console.log("1 schedule: 0 violations");
    return 0;
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error;
    console.log(error.message);
    return 1;
  }
}
