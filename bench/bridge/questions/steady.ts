import { type RedisServer, startRedis } from "@drover/local-servers";
import { setTimeout as delay } from "node:timers/promises";
import { now } from "../../../verification/harness/clock.ts";
import { type BenchCluster, startBenchCluster } from "../cluster/bench-cluster.ts";
import { changeSteadily } from "../cluster/steady-changes.ts";
import { populate } from "../cluster/population.ts";
import type { RunStart } from "../contenders/run-log.ts";
import { type Change, type LagFigures, lagFigures, lagsOf } from "../measures/lags.ts";
import { type LedgerView, viewLedger } from "../measures/ledger.ts";
import { peakOf, type Sample, together, watchMemory } from "../measures/memory-watch.ts";
import { watchOthers } from "../measures/others.ts";
import { cpuSince, type Memory } from "../../report/process-figures.ts";
import type { Stage } from "../plan.ts";
import { openDroverContestant, openGoContestant } from "./contestants.ts";

/** The timed spans, each from the sending of a change. */
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
  /** µs per change, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Share of the machine that other processes took, in [0, 1]. */
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
export async function steady(stage: Stage): Promise<SteadyFigures> {
  const { plan, progress } = stage;
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startBenchCluster(progress));
  const redis = stack.adopt(await startRedis({ persistence: false }), (server) => server.stop());
  const ledger = stack.adopt(viewLedger(redis.url), (view) => view.close());
  await populate(cluster, plan.steadyObjects);
  const followers = await startFollowers(stage, cluster, redis);
  await Promise.all([followers.ready, quiet(ledger)]);
  progress(`${plan.changesPerSecond} changes/s for ${plan.steadyFor / 1_000} s`);
  const woken = new Map<string, number[]>();
  await ledger.onChange((key, at) => noted(woken, key, at));
  const watch = watchProcesses(followers.pids, cluster.real.pids());
  const { changes, writerCpu } = await changeSteadily(cluster, plan);
  await quiet(ledger);
  const watched = watch.end(writerCpu, changes.length);
  await followers.stop();
  return { ...figures(plan, changes, { woken, ...followers.runs() }, watched.samples), ...watched.machine };
}

interface Followers {
  readonly pids: Readonly<Record<string, number>>;
  readonly ready: Promise<unknown>;
  stop(): Promise<void>;
  /** When runs began, by key. */
  runs(): Omit<Seen, "woken">;
}

async function startFollowers(
  { program, bridge }: Stage,
  cluster: BenchCluster,
  redis: RedisServer,
): Promise<Followers> {
  const drover = await openDroverContestant(cluster, redis, bridge);
  const controllerRuntime = openGoContestant(cluster, program, "typed");
  const following = [await drover.start(), await controllerRuntime.start()];
  return {
    pids: Object.fromEntries(following.flatMap(({ pids }) => Object.entries(pids))),
    ready: Promise.all(following.map((each) => each.ready())),
    async stop() {
      await Promise.all(following.map((each) => each.stop()));
      await drover.close();
    },
    runs: () => ({
      drover: byKey(drover.runs.read()),
      controllerRuntime: byKey(controllerRuntime.runs.read()),
    }),
  };
}

/** Memory and CPU of the followers, and the CPU of the servers. */
function watchProcesses(pids: Readonly<Record<string, number>>, servers: readonly number[]) {
  const memory = watchMemory(pids, memoryEvery);
  const cpu = cpuSince([...Object.values(pids), ...servers]);
  const busy = watchOthers();
  return {
    end(writerCpu: number, changes: number) {
      memory.stop();
      const spent = [
        ...Object.entries(pids).map(([name, pid]) => [name, cpu(pid)] as const),
        ["API server + etcd", servers.reduce((sum, pid) => sum + cpu(pid), 0)] as const,
        ["what makes the changes", writerCpu] as const,
      ];
      const perChange: Record<string, number> = Object.fromEntries(
        spent.map(([name, seconds]) => [name, (1e6 * seconds) / changes]),
      );
      const others = busy(spent.reduce((sum, [, seconds]) => sum + seconds, 0));
      return { samples: memory.samples, machine: { others, cpu: perChange } };
    },
  };
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

/** When what was seen of each key. */
interface Seen {
  readonly woken: ReadonlyMap<string, readonly number[]>;
  readonly drover: ReadonlyMap<string, readonly number[]>;
  readonly controllerRuntime: ReadonlyMap<string, readonly number[]>;
}

function figures(
  plan: Stage["plan"],
  changes: readonly Change[],
  seen: Seen,
  samples: readonly Sample[],
): Omit<SteadyFigures, "others" | "cpu"> {
  const began = changes.reduce((first, { sent }) => Math.min(first, sent), Infinity);
  const ended = began + plan.steadyFor;
  const part = Math.min(60_000, plan.steadyFor / 2);
  const within = (part: readonly [number, number], at: number): boolean => at >= part[0] && at < part[1];
  const parts = { first: [began, began + part], last: [ended - part, ended] } as const;
  const lags = (of: readonly Change[]): Record<Span, LagFigures> => ({
    "the change is answered": lagFigures(of.map(({ sent, answered }) => answered - sent)),
    "Drover: woken in Redis": lagFigures(lagsOf(of, seen.woken)),
    "Drover: run begins": lagFigures(lagsOf(of, seen.drover)),
    "controller-runtime: reconcile begins": lagFigures(lagsOf(of, seen.controllerRuntime)),
  });
  return {
    objects: plan.steadyObjects,
    changesPerSecond: plan.changesPerSecond,
    lasted: plan.steadyFor,
    part,
    changes: changes.length,
    answeredPerSecond: changes.filter(({ answered }) => answered < ended).length / (plan.steadyFor / 1_000),
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
    Object.keys(samples[0]?.of ?? {}).map((name) => [name, peakOf(together(samples, [name]))]),
  );
