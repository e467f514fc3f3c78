/**
 * # Chaos for the queue
 *
 * Real processes, a real Redis, and a schedule that breaks them: `npm run chaos:queue -- --schedules 500 --seed 7`.
 *
 * A **world** in this process holds what is true: a version per key, and a log of all that happened. Producers commit
 * nothing; they are told of changes, as a bridge is by the API server, and call `queue.wake` until it is acknowledged.
 * Workers ask the world what they read, write when `run.held()` allows it, and say how they end. The queue writes none
 * of that down, so the **oracle** can tell what was promised and not kept.
 *
 * A **schedule** is the list of all that is done, made from a seed; `--schedule '<json>'` plays one once more. Where the
 * processes are at each step is the machine's affair; `worker-kill` and `producer-kill` count the commands sent to
 * Redis, so that a process dies at each place where it waits.
 *
 * When the faults of a schedule are over, everything must come to rest within 30 s without further wakes; then every key
 * changes once more and must come to rest again; then every process must stop in order.
 */
import { parseArgs } from "node:util";
import { compileOnce } from "./cast.ts";
import { runSchedule } from "./harness.ts";
import { randomSchedule, sweepingSchedule } from "./random-schedule.ts";
import { report, summary } from "./report.ts";
import { type FaultKind, faultKinds, scheduleSchema, type Schedule } from "./schedule.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    /** Leave out the schedules before this one. */
    from: { type: "string", default: "0" },
    faults: { type: "string", default: faultKinds.join(",") },
    schedule: { type: "string" },
    parallel: { type: "string", default: "4" },
    patience: { type: "string", default: "30000" },
    /** Not random: processes die at each place where they wait for Redis, in turn. 150 commands are 450 schedules. */
    sweep: { type: "boolean", default: false },
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
  const given = values.schedule === undefined ? undefined : scheduleSchema.parse(JSON.parse(values.schedule));
  const count = Number(values.schedules);
  const scheduleAt = (index: number): Schedule =>
    given ?? (values.sweep ? sweepingSchedule(index) : randomSchedule(seed, index, kinds));
  const total = summary();
  await compileOnce();
  let next = Number(values.from);
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      if (values.bail && total.violations() > 0) return;
      const schedule = scheduleAt(index);
      const outcome = await runSchedule(schedule, Number(values.patience));
      total.add(outcome);
      if (outcome.violations.length > 0) console.log(report({ seed, index, schedule, outcome }));
      if (values.keep) console.log(`schedule ${index}: ${outcome.folder}`);
      else if (outcome.violations.length === 0) await outcome.dispose();
    }
  };
  await Promise.all(Array.from({ length: Number(values.parallel) }, lane));
  console.log(total.line(seed));
  return total.violations() === 0 ? 0 : 1;
}

function faultKind(name: string): FaultKind {
  const kind = faultKinds.find((each) => each === name);
  if (kind === undefined) throw new Error(`There is no fault ${name}. There are: ${faultKinds.join(", ")}.`);
  return kind;
}
