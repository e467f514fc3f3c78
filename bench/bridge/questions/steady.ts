import { startRedis } from "@drover/local-servers";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { now } from "../../queue/measures/now.ts";
import { type BenchCluster, startBenchCluster } from "../cluster/bench-cluster.ts";
import { populate } from "../cluster/population.ts";
import { startBridge, startNoopWorker } from "../contenders/drover.ts";
import { startGo } from "../contenders/go-contender.ts";
import { followRunLog, type RunStart } from "../contenders/run-log.ts";
import { startProcess } from "../contenders/start-process.ts";
import { type Change, type LagFigures, lagFigures, lagsOf } from "../measures/lags.ts";
import { type LedgerView, viewLedger } from "../measures/ledger.ts";
import { type Sample, together, watchMemory } from "../measures/memory-watch.ts";
import { watchOthers } from "../measures/others.ts";
import { cpuSince, type Memory } from "../measures/process-figures.ts";
import type { Stage } from "../results.ts";

/** What is timed, from the sending of a change. */
export const spans = [
  "the change is answered",
  "Drover: woken in Redis",
  "Drover: run begins",
  "controller-runtime: reconcile begins",
] as const;
export type Span = (typeof spans)[number];

export interface SteadyFigures {
  readonly objects: number;
  readonly changesPerSecond: number;
  readonly changes: number;
  /** Changes that were answered while it lasted, per second: fewer than wanted where the machine is too slow. */
  readonly answeredPerSecond: number;
  /** How much of the machine was taken by who has nothing to do with it, in [0, 1]. */
  readonly others: number;
  readonly lasted: number;
  /** How long the first and the last part are that are compared, ms. */
  readonly part: number;
  readonly parts: readonly {
    readonly part: "first" | "last";
    readonly lags: Readonly<Record<Span, LagFigures>>;
    /** The highest in that time. */
    readonly memory: Readonly<Record<string, Memory>>;
  }[];
  /** Over the whole time: none may be lost. */
  readonly all: Readonly<Record<Span, LagFigures>>;
}

/** The bridge and controller-runtime follow the same objects at once while they change steadily. */
export async function steady({ plan, program, bridge: main, progress }: Stage): Promise<SteadyFigures> {
  const cluster = await startBenchCluster(progress);
  const redis = await startRedis({ persistence: false });
  const file = (name: string): string => join(cluster.folder, name);
  const { kubeconfig, functions } = cluster;
  const ledger = viewLedger(redis.url);
  try {
    await populate(cluster, plan.steadyObjects);
    const worker = await startNoopWorker({
      redisUrl: redis.url,
      runs: file("drover.runs"),
      logFile: file("worker.log"),
    });
    const bridge = await startBridge({
      kubeconfig,
      functions,
      redisUrl: redis.url,
      logFile: file("bridge.log"),
      main,
    });
    const go = await startGo({
      ...{ program, kubeconfig, be: "controller", metadata: false },
      ...{ logFile: file("go.log"), runs: file("go.runs") },
    });
    await Promise.all([bridge.ready(), go.synced(), quiet(ledger)]);
    progress(`${plan.changesPerSecond} changes/s for ${plan.steadyFor / 1_000} s`);
    const woken = new Map<string, number[]>();
    await ledger.onChange((key, at) => noted(woken, key, at));
    const pids = {
      ...{ bridge: bridge.process.pid, Redis: redis.pid },
      ...{ worker: worker.pid, "controller-runtime": go.process.pid },
    };
    const memory = watchMemory(pids, memoryEvery);
    const cpu = cpuSince([...Object.values(pids), ...cluster.real.pids()]);
    const busy = watchOthers();
    const { changes, writerCpu } = await change(cluster, plan);
    await quiet(ledger);
    memory.stop();
    const ours = [...Object.values(pids), ...cluster.real.pids()].reduce(
      (sum, pid) => sum + cpu(pid),
      writerCpu,
    );
    const others = busy(ours);
    const seen = {
      "Drover: woken in Redis": woken,
      "Drover: run begins": byKey(followRunLog(file("drover.runs")).read()),
      "controller-runtime: reconcile begins": byKey(followRunLog(file("go.runs")).read()),
    };
    await Promise.all([go.process, bridge.process, worker].map((each) => each.stop()));
    return figures(plan, changes, seen, memory.samples, others);
  } finally {
    ledger.close();
    await redis.stop();
    await cluster.stop();
  }
}

const memoryEvery = 500;
const quietFor = 3_000;

/** Waits until nothing was due for a while. */
async function quiet(ledger: LedgerView): Promise<void> {
  let since = now();
  while (now() - since < quietFor) {
    if ((await ledger.due()) > 0) since = now();
    await delay(100);
  }
}

/** A process of its own: what it writes down must not wait for what is measured here. */
async function change(
  { real, folder }: BenchCluster,
  { steadyObjects: objects, changesPerSecond: perSecond, steadyFor: lasts }: Stage["plan"],
): Promise<{ readonly changes: readonly Change[]; readonly writerCpu: number }> {
  const file = join(folder, "changes");
  const writer = await startProcess({
    name: "the writer",
    command: process.execPath,
    args: [
      join(import.meta.dirname, "../processes/steady-writer.ts"),
      JSON.stringify({ kubeconfig: real.kubeconfig, file, objects, perSecond, lasts }),
    ],
    logFile: join(folder, "writer.log"),
  });
  const { code } = await writer.exited;
  const said = await readFile(writer.logFile, "utf8");
  if (code !== 0) throw new Error(`The writer failed:\n${said}`);
  const lines = (await readFile(file, "utf8")).split("\n").filter(Boolean);
  const changes = lines.map((line) => {
    const [key = "", sent, answered] = line.split(" ");
    return { key, sent: Number(sent) / 1e6, answered: Number(answered) / 1e6 };
  });
  return { changes, writerCpu: z.object({ cpu: z.number() }).parse(JSON.parse(said)).cpu };
}

function noted(times: Map<string, number[]>, key: string, at: number): void {
  const known = times.get(key);
  if (known === undefined) times.set(key, [at]);
  else known.push(at);
}

function byKey(runs: readonly RunStart[]): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>();
  for (const { key, at } of runs.toSorted((a, b) => a.at - b.at)) noted(times, key, at);
  return times;
}

type Seen = Readonly<Record<Exclude<Span, "the change is answered">, ReadonlyMap<string, readonly number[]>>>;

function figures(
  plan: Stage["plan"],
  changes: readonly Change[],
  seen: Seen,
  samples: readonly Sample[],
  others: number,
): SteadyFigures {
  const began = Math.min(...changes.slice(0, 100).map(({ sent }) => sent));
  const ended = began + plan.steadyFor;
  const part = Math.min(60_000, plan.steadyFor / 2);
  const within = (part: readonly [number, number], at: number): boolean => at >= part[0] && at < part[1];
  const parts = { first: [began, began + part], last: [ended - part, ended] } as const;
  const lags = (of: readonly Change[]): Record<Span, LagFigures> => ({
    "the change is answered": lagFigures(of.map(({ sent, answered }) => answered - sent)),
    "Drover: woken in Redis": lagFigures(lagsOf(of, seen["Drover: woken in Redis"])),
    "Drover: run begins": lagFigures(lagsOf(of, seen["Drover: run begins"])),
    "controller-runtime: reconcile begins": lagFigures(
      lagsOf(of, seen["controller-runtime: reconcile begins"]),
    ),
  });
  return {
    ...{ objects: plan.steadyObjects, changesPerSecond: plan.changesPerSecond, lasted: plan.steadyFor, part },
    changes: changes.length,
    answeredPerSecond: changes.filter(({ answered }) => answered < ended).length / (plan.steadyFor / 1_000),
    others,
    parts: (["first", "last"] as const).map((name) => ({
      part: name,
      lags: lags(changes.filter(({ sent }) => within(parts[name], sent))),
      memory: highest(samples.filter(({ at }) => within(parts[name], at))),
    })),
    all: lags(changes),
  };
}

const highest = (samples: readonly Sample[]): Record<string, Memory> =>
  Object.fromEntries(
    Object.keys(samples[0]?.of ?? {}).map((name) => {
      const each = together(samples, [name]);
      return [
        name,
        {
          rss: each.reduce((high, { rss }) => Math.max(high, rss), 0),
          pss: each.reduce((high, { pss }) => Math.max(high, pss), 0),
        },
      ];
    }),
  );
