/**
 * # Chaos for the bridge
 *
 * A real bridge between a real API server and a real Redis, and a proxy that breaks what passes between the bridge and
 * the API server: `npm run chaos:bridge -- --schedules 1000 --seed 7`.
 *
 * A **load** writes objects of a small kind, straight at the API server; in some schedules they refer to each other, and
 * a change concerns the objects that refer to it, too. A **recorder** notes what was committed, over a
 * raw watch of its own. A **reader** works the controller's queue: each run reads its object, straight at the API
 * server, and notes as of which version of the world. The bridge alone goes through the **proxy**, and is killed now and
 * then. Bridge and queue write nothing into that log, so the **oracle** finds changes that no run has read.
 *
 * A **schedule** is the list of all that is done, made from a seed; `--replay FILE` plays one once more. Faults meet
 * requests and events, not moments, so that they meet the same ones again wherever the machine's timing allows it.
 *
 * When the faults are over, every change must have been looked at within 30 s; then some objects change once more.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { playingOf, playingOptions, playSchedules } from "../harness/play-schedules.ts";
import { startTestServers } from "./test-servers.ts";
import { runSchedule } from "./run-schedule.ts";
import { randomSchedule } from "./schedules/random-schedule.ts";
import { report, summary } from "./report.ts";
import { faultKinds, scheduleSchema } from "./schedules/schedule.ts";

const { values } = parseArgs({
  options: {
    ...playingOptions,
    /** The main file of another bridge. */
    bridge: { type: "string" },
  },
});
const playing = playingOf(values, { faults: faultKinds, parse: (json) => scheduleSchema.parse(json) });
const { seed, faults, replayed, patience, parallel, until, from } = playing;
const program = values.bridge === undefined ? {} : { program: resolve(values.bridge) };

const servers = await startTestServers(Math.min(parallel, until - from));
const code = await playSchedules(playing, {
  lanes: servers.lanes,
  scheduleAt: (index) => replayed ?? randomSchedule(seed, index, faults),
  play: (schedule, lane) => runSchedule(schedule, { ...servers, lane, patience, ...program }),
  summary: summary(),
  report,
}).finally(() => servers.close());
// Not exitCode: a connection to a server that was killed may linger, and there is nothing to wait for.
process.exit(code);
