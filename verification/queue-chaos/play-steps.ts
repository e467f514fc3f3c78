import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";
import type { Processes } from "./processes/start-processes.ts";
import type { Observation, Loss } from "./oracle/facts.ts";
import type { Dying } from "./processes/messages.ts";
import type { Plans, Special } from "./schedules/plans.ts";
import { lossOf, type RedisUnderAttack } from "./redis/redis-under-attack.ts";
import {
  type FaultKind,
  isRedisFault,
  type ProcessFault,
  type RedisFault,
  type Step,
} from "./schedules/schedule.ts";
import type { World } from "./world.ts";

export interface ScheduleParts {
  readonly world: World;
  readonly processes: Processes;
  readonly plans: Plans;
  readonly redis: RedisUnderAttack;
  /** The objects of the schedule, by their numbers. */
  readonly keys: readonly string[];
}

/** How long to wait for something that a fault may have made impossible. */
const patience: Milliseconds = 600;
/** How long a process may take to come up. */
const startTimeout: Milliseconds = 10_000;
/** How long a process has for the command at which it dies; then it dies where it is. */
const deathTimeout: Milliseconds = 1_500;

/** Plays the steps, one after the other except those that overlap the next ones. */
export async function play(parts: ScheduleParts, steps: readonly Step[]): Promise<void> {
  const goingOn: Promise<void>[] = [];
  for (const step of steps) {
    if (step.do === "change") change(parts, step.keys, step.by);
    else if (step.do === "storm") goingOn.push(storm(parts, parts.keys[step.key], step.times, step.by));
    else if (step.do === "runs") await passes(parts, step.count);
    else if ("beside" in step && step.beside === true) goingOn.push(fault(parts, step));
    else await fault(parts, step);
  }
  await Promise.all(goingOn);
}

async function fault(parts: ScheduleParts, step: ProcessFault | RedisFault): Promise<void> {
  if (isRedisFault(step)) await breakRedis(parts, step);
  else await breakProcess(parts, step);
  const jobs = await parts.redis.jobs();
  if (jobs !== undefined) parts.world.log.note({ fact: "jobs", ...jobs });
}

async function breakRedis(parts: ScheduleParts, step: RedisFault): Promise<void> {
  const { world, redis, processes } = parts;
  const loses = lossOf(step.do);
  const [producer = ""] = processes.producers;
  // Before: a loss takes from what is acknowledged before it, and what is acknowledged after it must hold.
  note(parts, step.do, "begins", loses);
  const broken = await redis.begin(step, (runs) => passes(parts, runs));
  change(parts, step.meanwhile, producer);
  if ("for" in step) await delay(step.for);
  await broken.over();
  note(parts, step.do, "over", loses, broken.detail);
  // If the ledger key of a wake was removed, the loss cannot be noticed; a bridge that lists now and then heals it.
  if (step.do === "ledger-mutate" && step.relist) world.relist(producer, "keys of the ledger were changed");
}

async function breakProcess(parts: ScheduleParts, step: ProcessFault): Promise<void> {
  note(parts, step.do, "begins", "nothing");
  await breakProcessNow(parts, step);
  note(parts, step.do, "over", "nothing");
}

async function breakProcessNow(parts: ScheduleParts, step: ProcessFault): Promise<void> {
  const { processes } = parts;
  const [producer = ""] = processes.producers;
  switch (step.do) {
    case "worker-kill":
      return dies(parts, step.who, step, () => change(parts, step.meanwhile, producer));
    case "producer-kill":
      return dies(parts, step.who, step, () => change(parts, step.meanwhile, step.who));
    case "all-workers-kill":
      for (const worker of processes.workers) processes.signal(worker, "SIGKILL");
      change(parts, step.meanwhile, producer);
      return;
    case "worker-stop": {
      const run = await nextRun(parts, step.who, { hold: true }, step.meanwhile);
      processes.signal(step.who, "SIGSTOP");
      const key = run === undefined ? [] : [parts.keys.indexOf(run.key)];
      change(parts, [...step.meanwhile, ...key], producer);
      await delay(step.for);
      processes.signal(step.who, "SIGCONT");
      if (run !== undefined) parts.world.order(step.who, { order: "go", token: run.token });
      return;
    }
    case "worker-freeze":
      return freezes(parts, step);
    case "worker-busy":
      return endsWithin(parts, await nextRun(parts, step.who, { busy: step.for }, step.meanwhile), step.for);
    case "worker-hang":
      return endsWithin(
        parts,
        await nextRun(parts, step.who, { ignoresSignal: step.for }, step.meanwhile),
        step.for,
      );
    case "worker-drain":
      change(parts, step.meanwhile, producer);
      await parts.world.log.until(() => parts.world.isUp(step.who), startTimeout);
      processes.signal(step.who, "SIGTERM");
      await happens(parts, (fact) => fact.fact === "exited" && fact.process === step.who, deathTimeout);
  }
}

/** SIGKILL at a command to come; where that does not come, now. */
async function dies(
  { world, processes }: ScheduleParts,
  who: string,
  { command, phase }: Dying,
  provoke: () => void,
): Promise<void> {
  await world.log.until(() => world.isUp(who), startTimeout);
  const isGone = (fact: Observation): boolean => fact.fact === "exited" && fact.process === who;
  const gone = happens({ world }, isGone, deathTimeout);
  world.order(who, { order: "die", dies: { command, phase } });
  provoke();
  if (await gone) return;
  const killed = happens({ world }, isGone, deathTimeout);
  processes.signal(who, "SIGKILL");
  await killed;
}

/** SIGSTOP at a command to come; where that does not come, now. */
async function freezes(
  parts: ScheduleParts,
  { who, command, phase, for: span, meanwhile }: Extract<Step, { do: "worker-freeze" }>,
): Promise<void> {
  const { world, processes, keys } = parts;
  const [producer = ""] = processes.producers;
  await world.log.until(() => world.isUp(who), startTimeout);
  const silent = happens(parts, (fact) => fact.fact === "dying" && fact.process === who, deathTimeout);
  world.order(who, { order: "die", dies: { command, phase, signal: "SIGSTOP" } });
  change(parts, meanwhile, producer);
  const over = new AbortController();
  const storming = storm(parts, keys[meanwhile[0] ?? 0], Infinity, producer, over.signal);
  if (!(await silent)) {
    world.order(who, { order: "live" });
    processes.signal(who, "SIGSTOP");
  }
  await delay(span);
  processes.signal(who, "SIGCONT");
  await passes(parts, keys.length);
  over.abort();
  await storming;
}

type Started = Extract<Observation, { fact: "started" }>;

/** Plans the next run of a process, gives it work, and returns the run once it has begun. */
async function nextRun(
  parts: ScheduleParts,
  who: string,
  special: Special,
  keys: readonly number[],
): Promise<Started | undefined> {
  let run: Started | undefined;
  const begun = happens(
    parts,
    (fact) => isStart(fact) && fact.process === who && ((run = fact), true),
    patience,
  );
  parts.plans.arm(who, special);
  change(parts, keys, parts.processes.producers[0] ?? "");
  await begun;
  parts.plans.disarm(who);
  return run;
}

const isStart = (fact: Observation): fact is Started => fact.fact === "started";

async function endsWithin(parts: ScheduleParts, run: Started | undefined, span: Milliseconds): Promise<void> {
  if (run === undefined) return;
  const { token } = run;
  await happens(parts, (fact) => fact.fact === "ended" && fact.token === token, span + patience);
}

/** Resolves with true if something happens from now on, within that time. */
function happens(
  { world: { log } }: Pick<ScheduleParts, "world">,
  is: (fact: Observation) => boolean,
  atMost: Milliseconds,
): Promise<boolean> {
  let seen = log.facts.length;
  const look = (): boolean => {
    for (; seen < log.facts.length; seen++) {
      const fact = log.facts[seen];
      if (fact !== undefined && is(fact)) return true;
    }
    return false;
  };
  return log.until(look, atMost);
}

async function passes(parts: ScheduleParts, runs: number): Promise<void> {
  let left = runs;
  if (runs > 0) await happens(parts, (fact) => fact.fact === "started" && --left === 0, patience);
}

function change({ world, keys }: ScheduleParts, numbers: readonly number[], producer: string): void {
  const changed = numbers.flatMap((number) => keys[number] ?? []);
  if (changed.length > 0) world.change([...new Set(changed)], producer);
}

/** One change after the other, as fast as wakes are acknowledged. */
async function storm(
  { world }: ScheduleParts,
  key: string | undefined,
  times: number,
  producer: string,
  over?: AbortSignal,
): Promise<void> {
  if (key === undefined) return;
  for (let i = 0; i < times && over?.aborted !== true; i++) {
    const batch = world.change([key], producer);
    await world.log.until(() => world.isAcknowledged(batch), 100);
  }
}

function note(
  { world }: ScheduleParts,
  kind: FaultKind,
  phase: "begins" | "over",
  loses: Loss,
  detail = "",
): void {
  world.log.note({ fact: "fault", kind, phase, loses, detail });
}
