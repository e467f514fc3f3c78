import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";
import type { Cast } from "./processes/start-processes.ts";
import type { Happening, Loss } from "./oracle/facts.ts";
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

export interface Stage {
  readonly world: World;
  readonly cast: Cast;
  readonly plans: Plans;
  readonly redis: RedisUnderAttack;
  /** The objects of the schedule, by their numbers. */
  readonly keys: readonly string[];
}

/** How long is waited for something that a fault may have made impossible. */
const patience: Milliseconds = 600;
/** How long a process may take to come up. */
const birth: Milliseconds = 10_000;
/** How long a process has for the command at which it dies; then it dies where it is. */
const lifetime: Milliseconds = 1_500;

/** Plays the steps, one after the other but for those that go on beside the next ones. */
export async function play(stage: Stage, steps: readonly Step[]): Promise<void> {
  const goingOn: Promise<void>[] = [];
  for (const step of steps) {
    if (step.do === "change") change(stage, step.keys, step.by);
    else if (step.do === "storm") goingOn.push(storm(stage, stage.keys[step.key], step.times, step.by));
    else if (step.do === "runs") await passes(stage, step.count);
    else if ("beside" in step && step.beside === true) goingOn.push(fault(stage, step));
    else await fault(stage, step);
  }
  await Promise.all(goingOn);
}

async function fault(stage: Stage, step: ProcessFault | RedisFault): Promise<void> {
  if (isRedisFault(step)) await breakRedis(stage, step);
  else await breakProcess(stage, step);
  const bells = await stage.redis.bells();
  if (bells !== undefined) stage.world.log.note({ fact: "jobs", ...bells });
}

async function breakRedis(stage: Stage, step: RedisFault): Promise<void> {
  const { world, redis, cast } = stage;
  const loses = lossOf(step.do);
  const [producer = ""] = cast.producers;
  // Before: a loss takes from what is acknowledged before it, and what is acknowledged after it must hold.
  note(stage, step.do, "begins", loses);
  const broken = await redis.begin(step, (runs) => passes(stage, runs));
  change(stage, step.meanwhile, producer);
  if ("for" in step) await delay(step.for);
  await broken.over();
  note(stage, step.do, "over", loses, broken.detail);
  // Nobody can tell that a wake is gone whose key somebody removed; a bridge that lists now and then heals that.
  if (step.do === "ledger-mutate" && step.relist) world.relist(producer, "keys of the ledger were changed");
}

async function breakProcess(stage: Stage, step: ProcessFault): Promise<void> {
  note(stage, step.do, "begins", "nothing");
  await breakProcessNow(stage, step);
  note(stage, step.do, "over", "nothing");
}

async function breakProcessNow(stage: Stage, step: ProcessFault): Promise<void> {
  const { cast } = stage;
  const [producer = ""] = cast.producers;
  switch (step.do) {
    case "worker-kill":
      return dies(stage, step.who, step, () => change(stage, step.meanwhile, producer));
    case "producer-kill":
      return dies(stage, step.who, step, () => change(stage, step.meanwhile, step.who));
    case "all-workers-kill":
      for (const worker of cast.workers) cast.signal(worker, "SIGKILL");
      change(stage, step.meanwhile, producer);
      return;
    case "worker-stop": {
      const run = await nextRun(stage, step.who, { hold: true }, step.meanwhile);
      cast.signal(step.who, "SIGSTOP");
      const key = run === undefined ? [] : [stage.keys.indexOf(run.key)];
      change(stage, [...step.meanwhile, ...key], producer);
      await delay(step.for);
      cast.signal(step.who, "SIGCONT");
      if (run !== undefined) stage.world.order(step.who, { order: "go", token: run.token });
      return;
    }
    case "worker-freeze":
      return freezes(stage, step);
    case "worker-busy":
      return endsWithin(stage, await nextRun(stage, step.who, { busy: step.for }, step.meanwhile), step.for);
    case "worker-hang":
      return endsWithin(stage, await nextRun(stage, step.who, { deaf: step.for }, step.meanwhile), step.for);
    case "worker-drain":
      change(stage, step.meanwhile, producer);
      await stage.world.log.until(() => stage.world.isUp(step.who), birth);
      cast.signal(step.who, "SIGTERM");
      await happens(stage, (fact) => fact.fact === "exited" && fact.process === step.who, lifetime);
  }
}

/** SIGKILL at a command to come; where that does not come, now. */
async function dies(
  { world, cast }: Stage,
  who: string,
  { command, phase }: Dying,
  provoke: () => void,
): Promise<void> {
  await world.log.until(() => world.isUp(who), birth);
  const isGone = (fact: Happening): boolean => fact.fact === "exited" && fact.process === who;
  const gone = happens({ world }, isGone, lifetime);
  world.order(who, { order: "die", dies: { command, phase } });
  provoke();
  if (await gone) return;
  const killed = happens({ world }, isGone, lifetime);
  cast.signal(who, "SIGKILL");
  await killed;
}

/** SIGSTOP at a command to come; where that does not come, now. */
async function freezes(
  stage: Stage,
  { who, command, phase, for: span, meanwhile }: Extract<Step, { do: "worker-freeze" }>,
): Promise<void> {
  const { world, cast, keys } = stage;
  const [producer = ""] = cast.producers;
  await world.log.until(() => world.isUp(who), birth);
  const silent = happens(stage, (fact) => fact.fact === "falls silent" && fact.process === who, lifetime);
  world.order(who, { order: "die", dies: { command, phase, signal: "SIGSTOP" } });
  change(stage, meanwhile, producer);
  const over = new AbortController();
  const storming = storm(stage, keys[meanwhile[0] ?? 0], Infinity, producer, over.signal);
  if (!(await silent)) {
    world.order(who, { order: "live" });
    cast.signal(who, "SIGSTOP");
  }
  await delay(span);
  cast.signal(who, "SIGCONT");
  await passes(stage, keys.length);
  over.abort();
  await storming;
}

type Started = Extract<Happening, { fact: "started" }>;

/** Makes the next run in a process special, gives it work, and answers the run once it has begun. */
async function nextRun(
  stage: Stage,
  who: string,
  special: Special,
  keys: readonly number[],
): Promise<Started | undefined> {
  let run: Started | undefined;
  const begun = happens(
    stage,
    (fact) => isStart(fact) && fact.process === who && ((run = fact), true),
    patience,
  );
  stage.plans.arm(who, special);
  change(stage, keys, stage.cast.producers[0] ?? "");
  await begun;
  stage.plans.disarm(who);
  return run;
}

const isStart = (fact: Happening): fact is Started => fact.fact === "started";

async function endsWithin(stage: Stage, run: Started | undefined, span: Milliseconds): Promise<void> {
  if (run === undefined) return;
  const { token } = run;
  await happens(stage, (fact) => fact.fact === "ended" && fact.token === token, span + patience);
}

/** Whether something happens from now on, within that time. */
function happens(
  { world: { log } }: Pick<Stage, "world">,
  is: (fact: Happening) => boolean,
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

async function passes(stage: Stage, runs: number): Promise<void> {
  let left = runs;
  if (runs > 0) await happens(stage, (fact) => fact.fact === "started" && --left === 0, patience);
}

function change({ world, keys }: Stage, numbers: readonly number[], producer: string): void {
  const changed = numbers.flatMap((number) => keys[number] ?? []);
  if (changed.length > 0) world.change([...new Set(changed)], producer);
}

/** One change after the other, as fast as wakes are acknowledged. */
async function storm(
  { world }: Stage,
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

function note({ world }: Stage, kind: FaultKind, phase: "begins" | "over", loses: Loss, detail = ""): void {
  world.log.note({ fact: "fault", kind, phase, loses, detail });
}
