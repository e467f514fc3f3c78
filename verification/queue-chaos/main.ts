/**
 * # Chaos for the queue
 *
 * Real processes, a real Redis, and a schedule that breaks them: `npm run chaos:queue -- --schedules 500 --seed 7`.
 *
 * A **world** in this process holds the truth: a version per key, and a log of all that happened. Producers commit
 * nothing; they receive changes, as a bridge does from the API server, and call `queue.wake` until it is acknowledged.
 * Workers ask the world what they read, write when `run.hasLease()` allows it, and report how they end. The queue writes
 * nothing into that log, so the **oracle** finds promises that were broken.
 *
 * A **schedule** is the list of all that is done, made from a seed; `--replay '<json>'` plays one once more. Where the
 * processes are at each step depends on the machine; `worker-kill` and `producer-kill` count the commands sent to
 * Redis, so that a process dies at each place where it waits.
 *
 * When the faults of a schedule are over, everything must come to rest within 30 s without further wakes; then every key
 * changes once more and must come to rest again; then every process must stop in order.
 */
import { parseArgs } from "node:util";
import { playingOf, playingOptions, playSchedules } from "../harness/play-schedules.ts";
import { compileOnce } from "./processes/start-processes.ts";
import { runSchedule } from "./run-schedule.ts";
import { randomSchedule, sweepingSchedule } from "./schedules/random-schedule.ts";
import { report, summary } from "./report.ts";
import { faultKinds, scheduleSchema } from "./schedules/schedule.ts";

const { values } = parseArgs({
  options: {
    ...playingOptions,
    /** Not random: processes die at each place where they wait for Redis, in turn. 150 commands are 450 schedules. */
    sweep: { type: "boolean", default: false },
  },
});
const playing = playingOf(values, { faults: faultKinds, parse: (json) => scheduleSchema.parse(json) });
const { seed, faults, replayed, patience } = playing;

await compileOnce();
const code = await playSchedules(playing, {
  lanes: Array.from({ length: playing.parallel }),
  scheduleAt: (index) =>
    replayed ?? (values.sweep ? sweepingSchedule(index) : randomSchedule(seed, index, faults)),
  play: (schedule) => runSchedule(schedule, patience),
  summary: summary(),
  report,
});
// Not exitCode: a connection to a server that was killed may linger, and there is nothing to wait for.
process.exit(code);
