import { setTimeout as delay } from "node:timers/promises";
import { cpuSince, highestRss } from "../report/process-figures.ts";
import { now } from "../../verification/harness/clock.ts";
import type { Key } from "../bridge/cluster/numbered-kind.ts";
import { isTheirs } from "../peers/measured.ts";
import { countedByWhat, untilQuiet } from "../workloads/audit-log.ts";
import { followRunLog, type RunStart } from "../bridge/contenders/run-log.ts";
import type { AtWork } from "./contestants/contestant.ts";
import { sites } from "./sites.ts";
import type { Stage } from "./stage.ts";

export const steps = ["create", "no-op", "no-op again", "change"] as const;
export type Step = (typeof steps)[number];

/** The figures of a step with one contestant. */
export interface Figures {
  readonly step: Step;
  /** ms. */
  readonly time: number;
  /** How often it has decided which children a parent should have. */
  readonly runs: number;
  /** Requests of the contestant, by verb and resource. */
  readonly requests: Readonly<Record<string, number>>;
  /** CPU seconds until no request comes any more, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** CPU seconds of API server and etcd. */
  readonly serverCpu: number;
}

/** All figures of a contestant in one round. */
export interface Turn {
  readonly contestant: string;
  readonly figures: readonly Figures[];
  /** The most that was resident, bytes, by process. */
  readonly memory: Readonly<Record<string, number>>;
}

/** Drover keeps what a run has read for 10 s: after a longer time, runs are as those of a usual resync. */
const pause = 12_000;
const warmUp = 50;

/** A contestant at work on the stage, and its runs so far. */
interface Ground {
  readonly stage: Stage;
  readonly atWork: AtWork;
  /** Reads its new runs; all of them. */
  readonly runs: () => readonly RunStart[];
}

/** All steps, one after the other, with so many parents. */
export async function takeTurn(
  stage: Stage,
  contestant: string,
  atWork: AtWork,
  count: number,
): Promise<Turn> {
  const all = Array.from({ length: count + warmUp }, (_, i) => sites.keyOf(i));
  const [keys, first] = [all.slice(0, count), all.slice(count)];
  const log = followRunLog(atWork.runsFile);
  const past: RunStart[] = [];
  const runs = (): readonly RunStart[] => {
    for (const run of log.read()) past.push(run);
    return past;
  };
  const ground = { stage, atWork, runs };
  const done = async (act: () => Promise<void>, turn: number): Promise<number> => {
    const began = now();
    await act();
    return (await stage.judge.done(keys, turn)) - began;
  };
  await Promise.race([warmedUp(stage, first), atWork.died]);
  const figures = [await measured(ground, "create", () => done(() => stage.create(keys), 0))];
  await delay(pause);
  figures.push(await measured(ground, "no-op", () => allRun(ground, keys)));
  figures.push(await measured(ground, "no-op again", () => allRun(ground, keys)));
  await delay(pause);
  figures.push(await measured(ground, "change", () => done(() => stage.change(keys, 1), 1)));
  const memory = Object.entries(atWork.pids).map(([name, pid]) => [name, highestRss(pid)] as const);
  return { contestant, figures, memory: Object.fromEntries(memory) };
}

/** The contestant may still read what there is, and its code is not compiled yet. Leaves no parents. */
async function warmedUp(stage: Stage, keys: readonly Key[]): Promise<void> {
  await stage.create(keys);
  await stage.judge.done(keys, 0);
  for (const turn of [1, 2]) {
    await stage.change(keys, turn);
    await stage.judge.done(keys, turn);
  }
  await stage.clear();
}

/** Has all parents reconciled once more; the time until the last of these runs. */
async function allRun({ atWork, runs }: Ground, keys: readonly Key[]): Promise<number> {
  const missing = new Set(keys);
  let next = runs().length;
  const began = now();
  await atWork.resync(keys);
  for (;;) {
    for (const { key, at } of runs().slice(next)) {
      next += 1;
      if (missing.delete(key) && missing.size === 0) return at - began;
    }
    await delay(20);
  }
}

async function measured(
  { stage: { audit, cluster }, atWork: { pids, died }, runs }: Ground,
  step: Step,
  work: () => Promise<number>,
): Promise<Figures> {
  const servers = cluster.pids();
  const taken = cpuSince([...servers, ...Object.values(pids)]);
  const mark = await audit.mark();
  const before = runs().length;
  const time = await Promise.race([work(), died]);
  await untilQuiet(audit, isTheirs);
  return {
    step,
    time,
    runs: runs().length - before,
    requests: countedByWhat(await audit.since(mark), isTheirs),
    cpu: Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, taken(pid)])),
    serverCpu: servers.reduce((sum, pid) => sum + taken(pid), 0),
  };
}
