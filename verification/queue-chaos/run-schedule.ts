import type { Milliseconds } from "@drover/controller";
import { randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startProcesses } from "./processes/start-processes.ts";
import { now } from "../harness/clock.ts";
import { type Outcome, outcomeOf } from "../harness/outcome.ts";
import type { Violation } from "../harness/report-violations.ts";
import { play, type ScheduleParts } from "./play-steps.ts";
import type { Observation } from "./oracle/facts.ts";
import type { Counts, Order } from "./processes/messages.ts";
import { violationsIn } from "./oracle/oracle.ts";
import { plansFor } from "./schedules/plans.ts";
import { lossOf, startRedisUnderAttack } from "./redis/redis-under-attack.ts";
import { followRest, type Rest } from "./oracle/rest.ts";
import { isRedisFault, type Schedule, type Step } from "./schedules/schedule.ts";
import { startWorld, type World } from "./world.ts";

/** A sixth to a fifth of the queue's own times, and short windows, so that a schedule takes a second or two. */
const times = { lease: 1_000, renewal: 100, recoveryWindow: 300 };
const backoff = { first: 20, longest: 200 };
/** Longer than long runs, shorter than what `worker-hang` holds a handler for. */
const timeout: Milliseconds = 1_500;

/** How long the first processes may take to start on a slow machine. */
const startTimeout: Milliseconds = 60_000;

/** Plays a schedule on a Redis and in processes of its own, and judges what happened. `patience` is I5's. */
export async function runSchedule(
  schedule: Schedule,
  patience: Milliseconds = 30_000,
): Promise<Outcome<Observation>> {
  const folder = await mkdtemp(join(tmpdir(), "drover-chaos-"));
  const keys = schedule.behaviours.map((_, i) => `chaos/k${i}`);
  const behaviours = new Map(schedule.behaviours.map((behaviour, i) => [keys[i] ?? "", behaviour]));
  const plans = plansFor(behaviours);
  const controller = `chaos-${randomUUID()}`;
  const redis = await startRedisUnderAttack(schedule, { controller, keys });
  const loses = schedule.steps.some(mayLose);
  const world = await startWorld({
    plans,
    listsAfterLoss: loses,
    open: opener(schedule, controller, redis.url),
  });
  const rest = followRest(behaviours);
  world.log.follow(rest.see);
  const processes = await startProcesses({ log: world.log, port: () => world.port, folder, ...schedule });
  const parts: ScheduleParts = { world, processes, plans, redis, keys };
  const judged: Violation[] = [];
  try {
    const isUp = (): boolean =>
      [...processes.workers, ...processes.producers].every((name) => world.isUp(name));
    if (!(await world.log.until(isUp, startTimeout)))
      throw new Error(`Not all processes start: see ${folder}`);
    await play(parts, schedule.steps);
    plans.heal();
    for (const name of [...processes.workers, ...processes.producers]) world.order(name, { order: "live" });
    if (!(await world.log.until(isUp, patience)))
      judged.push({ rule: "I5", what: "not all processes came up" });
    world.log.note({ fact: "faults over" });
    judged.push(...(await comesToRest(parts, rest, patience, loses)));
    if (judged.length === 0) {
      world.log.note({ fact: "at rest" });
      world.change(keys, processes.producers[0] ?? "");
      judged.push(...(await comesToRest(parts, rest, patience, loses)));
    }
    const mutated = (of: "jobs-mutate" | "ledger-mutate"): boolean =>
      schedule.steps.some((step) => step.do === of);
    const innocent = (await redis.quarantined()).filter(
      (name) => !mutated(name.includes(":quarantine:jobs:") ? "jobs-mutate" : "ledger-mutate"),
    );
    if (innocent.length > 0) {
      judged.push({ rule: "I6", what: `put aside though no fault changed it: ${innocent.join(", ")}` });
    }
    await world.log.until(isUp, patience);
    const late = await processes.stop(patience);
    judged.push(...late.map((name) => ({ rule: "I17", what: `${name} did not stop after SIGTERM` })));
  } finally {
    await processes.stop(0);
    await world.close();
    await redis.stop();
  }
  const expected = {
    times: { ...times, firstBackoff: backoff.first, longestBackoff: backoff.longest },
    keys: keys.length,
  };
  const { facts } = world.log;
  const slots = schedule.workers * schedule.concurrency;
  return outcomeOf(folder, facts, [...judged, ...violationsIn(facts, { ...expected, slots })]);
}

const mayLose = (step: Step): boolean => isRedisFault(step) && lossOf(step.do) !== "nothing";

/** The first order of each process; only its first life gets a planned death. */
function opener(
  { doomed, concurrency }: Schedule,
  controller: string,
  redisUrl: string,
): (name: string) => Order {
  const deaths = new Map(doomed.map(({ who, command, phase }) => [who as string, { command, phase }]));
  return (name) => {
    const dies = deaths.get(name);
    deaths.delete(name);
    const common = { order: "open" as const, redisUrl, controller, times, backoff, concurrency, timeout };
    return dies === undefined ? common : { ...common, dies };
  };
}

/**
 * I1 and I5: every change has been seen by a run that came to an end, and nothing is left to do, by the facts, by the
 * queue's own account and by BullMQ's lists.
 */
async function comesToRest(
  { world, processes, redis }: ScheduleParts,
  rest: Rest,
  patience: Milliseconds,
  loses: boolean,
): Promise<readonly Violation[]> {
  const deadline = now() + patience;
  const left = (): Milliseconds => Math.max(0, deadline - now());
  for (;;) {
    const missing = (): Violation[] => missingIn(world, rest);
    await world.log.until(() => world.allAcknowledged() && missing().length === 0, left());
    const unrest = world.allAcknowledged()
      ? unrestIn(await world.count(processes.producers[0] ?? ""), await redis.jobs(), rest.expected(), loses)
      : "not all wakes were acknowledged";
    if (unrest === undefined && missing().length === 0) return [];
    if (left() === 0) return [...missing(), { rule: "I5", what: unrest ?? "came to rest too late" }];
    await delay(50);
  }
}

const missingIn = (world: World, rest: Rest): Violation[] =>
  [...world.versions].flatMap(([key, version]) => {
    const what = rest.missing(key, version);
    return what === undefined ? [] : [{ rule: "I1", key, what }];
  });

function unrestIn(
  counts: Counts | undefined,
  jobs: { readonly waiting: number } | undefined,
  expected: ReturnType<Rest["expected"]>,
  loses: boolean,
): string | undefined {
  if (counts === undefined) return "the queue does not answer with its counts";
  if (jobs === undefined) return "Redis does not answer with its jobs";
  const { due, running, scheduled, parked } = counts;
  const right = (are: number, should: number): boolean => are === should || (loses && are < should);
  if (due > 0 || running > 0) return `the queue says that ${due} keys are due and ${running} run`;
  if (!right(scheduled, expected.scheduled))
    return `the queue has ${scheduled} keys wait for a time, not ${expected.scheduled}`;
  if (!right(parked, expected.parked)) return `the queue has parked ${parked} keys, not ${expected.parked}`;
  return jobs.waiting > 0 ? `${jobs.waiting} jobs wait, and nothing is due` : undefined;
}
