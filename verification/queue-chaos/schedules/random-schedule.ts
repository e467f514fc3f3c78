import { pseudoRandom, type PseudoRandom } from "@drover/random";
import {
  type Behaviour,
  behaviours,
  type Death,
  type FaultKind,
  isRedisFaultKind,
  type Schedule,
  type Step,
} from "./schedule.ts";

/** Faults that one server cannot have both of. */
const apart: readonly (readonly [FaultKind, FaultKind])[] = [
  ["redis-full-disk", "redis-old-dump"],
  ["redis-full-disk", "redis-failover"],
  ["redis-loading", "redis-failover"],
];
/** The behaviours of half of the keys. */
const usual: readonly Behaviour[] = ["works", "works", "slow", "fails"];
const phases = ["before", "sent", "answered"] as const;

/** Schedule number `index` of a seed, made of some of the faults that are given. */
export function randomSchedule(seed: number, index: number, kinds: readonly FaultKind[], most = 4): Schedule {
  const dice = pseudoRandom(seed, index);
  const workers = dice.between(2, 3);
  const producers = dice.between(1, 2);
  const size = dice.between(4, 10);
  const given = Array.from({ length: size }, () => dice.oneOf(dice.chance(0.5) ? usual : behaviours));
  const processes = { workers, producers, size, behaviours: given };
  const processKinds = kinds.filter((kind) => !isRedisFaultKind(kind) && kind !== "all-workers-kill");
  const chosen = fitting(dice, kinds, dice.between(1, most));
  const steps = chosen.flatMap((kind): Step[] => [
    ...traffic(dice, processes),
    ...(isRedisFaultKind(kind) && processKinds.length > 0 && dice.chance(0.4)
      ? [
          beside(faultOf(dice, processes, dice.oneOf(processKinds))),
          { do: "runs" as const, count: dice.between(1, 3) },
        ]
      : []),
    faultOf(dice, processes, kind),
    ...(dice.chance(0.3) ? traffic(dice, processes) : []),
  ]);
  return {
    workers,
    producers,
    concurrency: dice.between(1, 3),
    behaviours: given,
    doomed: doomed(dice, processes, kinds),
    steps,
  };
}

/**
 * Every place where a process waits for Redis, in turn: in schedule `index`, each process dies at command
 * `index / 3 + 1` of its life, one before it is sent, one with it under way, one when it is answered.
 */
export function sweepingSchedule(index: number): Schedule {
  const command = Math.floor(index / phases.length) + 1;
  const all = [0, 1, 2, 3];
  const changes = (times: number): Step[] =>
    Array.from({ length: times }, (): Step[] => [
      { do: "change", keys: all, by: "producer-0" },
      { do: "runs", count: all.length },
    ]).flat();
  return {
    workers: 2,
    producers: 1,
    concurrency: 2,
    behaviours: ["works", "flaky", "again", "slow"],
    doomed: (["worker-0", "worker-1", "producer-0"] as const).map((who, i) => ({
      who,
      command,
      phase: phases[(index + i) % phases.length] ?? "before",
    })),
    steps: changes(Math.ceil(command / 8)),
  };
}

const beside = (step: Step): Step => ("who" in step ? { ...step, beside: true } : step);

interface Company {
  readonly workers: number;
  readonly producers: number;
  readonly size: number;
  readonly behaviours: readonly Behaviour[];
}

function fitting(dice: PseudoRandom, kinds: readonly FaultKind[], count: number): FaultKind[] {
  const chosen: FaultKind[] = [];
  for (let i = 0; i < count; i++) {
    const kind = dice.oneOf(kinds);
    const clashes = apart.some(
      (pair) => pair.includes(kind) && pair.some((each) => each !== kind && chosen.includes(each)),
    );
    if (!clashes) chosen.push(kind);
  }
  return chosen;
}

/** Half of the schedules where processes are killed begin with lives that end early. */
function doomed(dice: PseudoRandom, { workers, producers }: Company, kinds: readonly FaultKind[]): Death[] {
  const command = (): Pick<Death, "command" | "phase"> => ({
    command: dice.between(1, 150),
    phase: dice.oneOf(phases),
  });
  const deaths: Death[] = [];
  if (kinds.includes("worker-kill") && dice.chance(0.4)) {
    deaths.push({ who: `worker-${dice.between(0, workers - 1)}`, ...command() });
  }
  if (kinds.includes("producer-kill") && dice.chance(0.2)) {
    deaths.push({ who: `producer-${dice.between(0, producers - 1)}`, ...command() });
  }
  return deaths;
}

const numbers = (size: number): number[] => Array.from({ length: size }, (_, i) => i);

function traffic(dice: PseudoRandom, { producers, size, behaviours: given }: Company): Step[] {
  const by = (): `producer-${number}` => `producer-${dice.between(0, producers - 1)}`;
  const steps: Step[] = [];
  for (let i = dice.between(1, 3); i > 0; i--) {
    steps.push({ do: "change", keys: dice.some(numbers(size), dice.between(1, size)), by: by() });
    if (dice.chance(0.5)) steps.push({ do: "runs", count: dice.between(1, size) });
  }
  if (dice.chance(0.3)) {
    const failing = numbers(size).filter((key) => given[key] === "fails");
    const key = dice.oneOf(dice.chance(0.5) && failing.length > 0 ? failing : numbers(size));
    steps.push({ do: "storm", key, times: dice.between(20, 400), by: by() });
  }
  return steps;
}

function faultOf(dice: PseudoRandom, { workers, producers, size }: Company, kind: FaultKind): Step {
  const meanwhile = dice.some(numbers(size), dice.between(0, size));
  const worker = `worker-${dice.between(0, workers - 1)}` as const;
  const death = { command: dice.between(1, 60), phase: dice.oneOf(phases) };
  const span = dice.between(100, 1_200);
  switch (kind) {
    case "worker-kill":
      return { do: kind, who: worker, ...death, meanwhile };
    case "producer-kill":
      return { do: kind, who: `producer-${dice.between(0, producers - 1)}`, ...death, meanwhile };
    case "all-workers-kill":
      return { do: kind, meanwhile };
    case "worker-stop":
      return { do: kind, who: worker, for: dice.between(200, 1_400), meanwhile };
    case "worker-freeze":
      // Some for longer than a bell is believed to be under way.
      return { do: kind, who: worker, ...death, for: dice.oneOf([400, 1_200, 2_500, 3_500]), meanwhile };
    case "worker-busy":
      return { do: kind, who: worker, for: dice.between(200, 1_400), meanwhile };
    case "worker-hang":
      return { do: kind, who: worker, for: dice.between(2_600, 2_900), meanwhile };
    case "worker-drain":
      return { do: kind, who: worker, meanwhile };
    case "redis-kill":
    case "redis-hang":
    case "redis-oom":
    case "redis-readonly":
    case "redis-full-disk":
      return { do: kind, for: span, meanwhile };
    case "redis-loading":
      return { do: kind, junk: dice.between(1_000, 3_000), meanwhile };
    case "redis-cut":
      return { do: kind, times: dice.between(1, 8), meanwhile };
    case "redis-noperm":
      return {
        do: kind,
        without: dice.oneOf(["-@all", "-@write", "-@scripting", "-@blocking", "-info", "-eval"]),
        for: span,
        meanwhile,
      };
    case "redis-flush":
      return { do: kind, meanwhile };
    case "redis-old-dump":
      return { do: kind, runs: dice.between(0, size), meanwhile };
    case "redis-failover":
      return {
        do: kind,
        runs: dice.between(0, size),
        old: dice.oneOf(["killed", "demoted", "cut off"]),
        meanwhile,
      };
    case "jobs-forge":
      return { do: kind, times: dice.between(1, 20), meanwhile };
    case "jobs-mutate":
      return { do: kind, picks: mutations(dice), meanwhile };
    case "ledger-mutate":
      return { do: kind, picks: mutations(dice), relist: true, meanwhile };
  }
}

function mutations(dice: PseudoRandom) {
  const hows = ["remove", "wrong type", "truncate", "garbage"] as const;
  return Array.from({ length: dice.between(1, 4) }, () => ({
    at: Math.floor(dice.fraction() * 1_000) / 1_000,
    how: dice.oneOf(hows),
  }));
}
