/**
 * # Chaos for the bridge
 *
 * A real bridge between a real API server and a real Redis, and a proxy that breaks what passes between the bridge and
 * the API server: `npm run chaos:bridge -- --schedules 1000 --seed 7`.
 *
 * A **load** writes objects of a small kind, straight at the API server; in some schedules they refer to each other, and
 * a change concerns who refers to its object, too. A **witness** sees what was committed, over a
 * raw watch of its own. A **reader** works the controller's queue: each run reads its object, straight at the API
 * server, and notes as of which version of the world. The bridge alone goes through the **proxy**, and is killed now and
 * then. Bridge and queue write nothing of that down, so the **oracle** can tell which change was never looked at.
 *
 * A **schedule** is the list of all that is done, made from a seed; `--replay FILE` plays one once more. Faults meet
 * requests and events, not moments, so that they meet the same ones again wherever the machine's timing allows it.
 *
 * When the faults are over, every change must have been looked at within 30 s; then some objects change once more.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { startGround } from "./ground.ts";
import { runSchedule } from "./harness.ts";
import { randomSchedule } from "./random-schedule.ts";
import { report, summary } from "./report.ts";
import { type FaultKind, faultKinds, type Schedule, scheduleSchema } from "./schedule.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    /** Leave out the schedules before this one. */
    from: { type: "string", default: "0" },
    faults: { type: "string", default: faultKinds.join(",") },
    replay: { type: "string" },
    parallel: { type: "string", default: "4" },
    patience: { type: "string", default: "30000" },
    /** The main file of another bridge. */
    bridge: { type: "string" },
    /** Begin no other schedule after one with a violation. */
    bail: { type: "boolean", default: false },
    /** Keep the logs of every schedule, and say where. */
    keep: { type: "boolean", default: false },
  },
});

// Not exitCode: a connection to a server that was killed may linger, and there is nothing to wait for.
process.exit(await main());

async function main(): Promise<number> {
  const seed = Number(values.seed);
  const kinds = values.faults.split(",").map(faultKind);
  const given =
    values.replay === undefined
      ? undefined
      : scheduleSchema.parse(JSON.parse(readFileSync(values.replay, "utf8")));
  const count = given === undefined ? Number(values.schedules) : 1;
  const scheduleAt = (index: number): Schedule => given ?? randomSchedule(seed, index, kinds);
  const total = summary();
  const ground = await startGround(Math.min(Number(values.parallel), count));
  const options = {
    patience: Number(values.patience),
    ...(values.bridge === undefined ? {} : { program: resolve(values.bridge) }),
  };
  let next = given === undefined ? Number(values.from) : 0;
  try {
    await Promise.all(
      ground.lanes.map(async (lane) => {
        for (let index = next++; index < count; index = next++) {
          if (values.bail && total.violations() > 0) return;
          const schedule = scheduleAt(index);
          const outcome = await runSchedule(schedule, { ...ground, lane, ...options });
          total.add(outcome);
          if (outcome.violations.length > 0) console.log(report({ seed, index, schedule, outcome }));
          if (values.keep) console.log(`schedule ${index}: ${outcome.folder}`);
          else if (outcome.violations.length === 0) await outcome.dispose();
        }
      }),
    );
  } finally {
    await ground.close();
  }
  console.log(total.line(seed));
  return total.violations() === 0 ? 0 : 1;
}

function faultKind(name: string): FaultKind {
  const kind = faultKinds.find((each) => each === name);
  if (kind === undefined) throw new Error(`There is no fault ${name}. There are: ${faultKinds.join(", ")}.`);
  return kind;
}
