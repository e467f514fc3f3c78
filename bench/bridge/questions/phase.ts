import { setTimeout as delay } from "node:timers/promises";
import { now } from "../../../verification/harness/clock.ts";
import { type Requests, requestsOf } from "../cluster/audit-log.ts";
import type { BenchCluster } from "../cluster/bench-cluster.ts";
import type { Changes } from "../cluster/population.ts";
import type { Key } from "../cluster/numbered-kind.ts";
import type { RunStart } from "../contenders/run-log.ts";
import { wokenBetween } from "../measures/ledger.ts";
import { peakOf, type Sample, together, watchMemory } from "../measures/memory-watch.ts";
import { watchOthers } from "../measures/others.ts";
import { cpuSince, highestRss, type Memory } from "../../report/process-figures.ts";
import type { Contestant, ContestantName, Following } from "./contestants.ts";

export type PhaseName = "first" | "restart" | "changes" | "changes, position too old";

/** From the start of a process until it has settled. Times ms, CPU s, memory bytes. */
export interface PhaseFigures {
  readonly contestant: ContestantName;
  readonly phase: PhaseName;
  /** From the start of the process. */
  readonly ready: number;
  /** To the begin of the last run; undefined where nothing ran. */
  readonly lastRun: number | undefined;
  readonly runs: number;
  /** Recorded in the ledger; undefined where there is none. */
  readonly wakes: number | undefined;
  /** As its metrics count them; undefined where they do not. */
  readonly wakesCounted: number | undefined;
  readonly keys: KeyFigures;
  readonly requests: Requests;
  readonly received: number;
  readonly cpu: Readonly<Record<string, number>>;
  readonly memory: readonly MemoryFigures[];
  readonly usedMemory: number | undefined;
  /** Share of the machine that other processes took, in [0, 1]. */
  readonly others: number;
}

/** Which keys were woken (or, where no wakes are recorded, ran). */
export interface KeyFigures {
  readonly woken: number;
  /** Woken of those that are there; missed: the rest of them. */
  readonly missed: number;
  /** Of each of the changes that were made meanwhile, those that were woken. */
  readonly noticed: Readonly<Record<keyof Changes, readonly [noticed: number, made: number]>> | undefined;
  /** Woken, and not among the changes. */
  readonly others: number;
}

export interface MemoryFigures {
  readonly of: string;
  readonly peak: Memory;
  readonly settled: Memory;
  /** The highest RSS since the start, by the kernel; of one process. */
  readonly highest: number | undefined;
}

const memoryEvery = 100;
const patience = 900_000;
const noticedWithin = 60_000;

export interface PhaseOptions {
  readonly cluster: BenchCluster;
  readonly contestant: Contestant;
  readonly phase: PhaseName;
  readonly living: ReadonlySet<Key>;
  /** Made while it was down. */
  readonly changes?: Changes;
  readonly settle: number;
}

/** Starts the contestant's process, waits until it has settled, and stops it. */
export async function measurePhase(options: PhaseOptions): Promise<PhaseFigures> {
  const { cluster, contestant, phase } = options;
  const wakesBefore = await contestant.wakes?.();
  contestant.runs.read();
  const mark = await cluster.audit.mark();
  const receivedBefore = cluster.wire.received();
  const cpu = cpuSince(cluster.real.pids());
  const others = watchOthers();
  const following = await contestant.start();
  const ownCpu = cpuSince(Object.values(following.pids));
  const memory = watchMemory(following.pids, memoryEvery);
  try {
    const ready = await following.ready();
    const runs = await settled(options);
    memory.stop();
    const cpuFigures = {
      ...Object.fromEntries(Object.entries(following.pids).map(([name, pid]) => [name, ownCpu(pid)])),
      "API server + etcd": cluster.real.pids().reduce((sum, pid) => sum + cpu(pid), 0),
    };
    const busyOthers = others(Object.values(cpuFigures).reduce((a, b) => a + b, 0));
    const memoryFigures = figuresOf(memory.samples, following);
    const wakesAfter = await contestant.wakes?.();
    const woken = wakesBefore && wakesAfter && wokenBetween(wakesBefore, wakesAfter);
    const keys = new Set(woken?.keys() ?? runs.map(({ key }) => key));
    return {
      contestant: contestant.name,
      phase,
      ready,
      cpu: cpuFigures,
      memory: memoryFigures,
      lastRun: runs.length === 0 ? undefined : lastOf(runs) - following.startedAt,
      runs: runs.length,
      wakes: woken && [...woken.values()].reduce((a, b) => a + b, 0),
      wakesCounted: await following.wakesCounted?.(),
      keys: keyFigures(keys, options),
      requests: requestsOf(await cluster.audit.since(mark), contestant.userAgent),
      received: cluster.wire.received() - receivedBefore,
      usedMemory: await contestant.usedMemory?.(),
      others: busyOthers,
    };
  } finally {
    memory.stop();
    await following.stop();
  }
}

/**
 * Waits until all that was changed has run, or a minute has passed; and then until nothing has run for so long, and
 * no key is due.
 */
async function settled({ contestant, changes, settle }: PhaseOptions): Promise<readonly RunStart[]> {
  const runs: RunStart[] = [];
  const awaited = new Set(changes === undefined ? [] : Object.values(changes).flat());
  const [over, noLonger] = [now() + patience, now() + noticedWithin];
  let quietSince = now();
  while (now() - quietSince < settle || (await contestant.due()) > 0) {
    if (now() > over) throw new Error(`${contestant.name} has not settled after ${patience / 1_000} s.`);
    await delay(100);
    for (const run of contestant.runs.read()) {
      runs.push(run);
      awaited.delete(run.key);
      quietSince = now();
    }
    if (awaited.size > 0 && now() < noLonger) quietSince = now();
  }
  return runs;
}

const lastOf = (runs: readonly RunStart[]): number =>
  runs.reduce((latest, { at }) => Math.max(latest, at), 0);

function figuresOf(samples: readonly Sample[], { pids }: Following): MemoryFigures[] {
  const names = Object.keys(pids);
  const figures = (of: string, parts: readonly string[]): MemoryFigures => {
    const each = together(samples, parts);
    const pid = pids[of];
    return {
      of,
      peak: peakOf(each),
      settled: each.at(-1) ?? { rss: 0, pss: 0 },
      highest: pid === undefined ? undefined : highestRss(pid),
    };
  };
  const each = names.map((name) => figures(name, [name]));
  return names.includes("bridge") ? [...each, figures(bridgeAndRedis, ["bridge", "Redis"])] : each;
}
export const bridgeAndRedis = "bridge + Redis";

function keyFigures(woken: ReadonlySet<string>, { living, changes }: PhaseOptions): KeyFigures {
  const noticedOf = (made: readonly string[] = []): readonly [number, number] => [
    made.filter((key) => woken.has(key)).length,
    made.length,
  ];
  const expected = new Set(changes === undefined ? [] : Object.values(changes).flat());
  return {
    woken: woken.size,
    missed: living.size - [...living].filter((key) => woken.has(key)).length,
    others: [...woken].filter((key) => !expected.has(key)).length,
    noticed: changes && {
      changed: noticedOf(changes.changed),
      created: noticedOf(changes.created),
      deleted: noticedOf(changes.deleted),
      recreated: noticedOf(changes.recreated),
    },
  };
}
