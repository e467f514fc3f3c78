import type { RedisServer } from "@drover/local-servers";
import { join } from "node:path";
import type { BenchCluster } from "../cluster/bench-cluster.ts";
import { startBridge, startNoopWorker } from "../contenders/drover.ts";
import { startGo } from "../contenders/go-contender.ts";
import { followRunLog, type RunLog } from "../contenders/run-log.ts";
import { viewLedger } from "../measures/ledger.ts";

export const contestantNames = ["drover", "typed", "metadata"] as const;
export type ContestantName = (typeof contestantNames)[number];
export const titles: Readonly<Record<ContestantName, string>> = {
  drover: "Drover",
  typed: "controller-runtime",
  metadata: "controller-runtime, metadata only",
};

/** A controller that follows the Widgets and runs a no-op for each key. */
export interface Contestant {
  readonly name: ContestantName;
  /** Prefix of its user agent. */
  readonly userAgent: string;
  readonly runs: RunLog;
  /** Starts the process that follows the API server. */
  start(): Promise<Following>;
  /** Keys that are due; 0 if unknown. */
  due(): Promise<number>;
  /** Wakes by key so far, where there is a record of them besides the runs. */
  wakes?(): Promise<ReadonlyMap<string, number>>;
  /** `INFO memory`'s used_memory, bytes. */
  usedMemory?(): Promise<number>;
  close(): Promise<void>;
}

export interface Following {
  readonly startedAt: number;
  /** All processes that it takes, by name. */
  readonly pids: Readonly<Record<string, number>>;
  /** Resolves with the ms since the start when it reports that it is synced. */
  ready(): Promise<number>;
  /** A counter of wakes among its metrics, where it has one. */
  wakesCounted?(): Promise<number | undefined>;
  /** SIGTERM, as at a rollout. */
  stop(): Promise<unknown>;
}

/** The bridge, Redis, and a worker that runs all the time. */
export async function openDroverContestant(
  cluster: BenchCluster,
  redis: RedisServer,
  main: string,
): Promise<Contestant> {
  const file = (name: string): string => join(cluster.folder, name);
  const runs = file("drover.runs");
  const worker = await startNoopWorker({ redisUrl: redis.url, runs, logFile: file("worker.log") });
  const ledger = viewLedger(redis.url);
  return {
    name: "drover",
    userAgent: "drover-bridge",
    runs: followRunLog(runs),
    async start() {
      const { kubeconfig, functions } = cluster;
      const bridge = await startBridge({
        kubeconfig,
        functions,
        redisUrl: redis.url,
        logFile: file("bridge.log"),
        main,
      });
      return {
        startedAt: bridge.process.startedAt,
        pids: { bridge: bridge.process.pid, Redis: redis.pid, worker: worker.pid },
        ready: bridge.ready,
        wakesCounted: async () => wakesIn(await bridge.metrics()),
        stop: () => bridge.process.stop(),
      };
    },
    due: ledger.due,
    wakes: ledger.wakes,
    usedMemory: ledger.usedMemory,
    async close() {
      ledger.close();
      await worker.stop();
    },
  };
}

/** The sum of the counters that are named for wakes. */
function wakesIn(metrics: string): number | undefined {
  const lines = [...metrics.matchAll(/^drover_\w*wakes\w*_total(?:\{[^}]*\})? (\S+)$/gm)];
  return lines.length === 0 ? undefined : lines.reduce((sum, [, value]) => sum + Number(value), 0);
}

export function openGoContestant(
  cluster: BenchCluster,
  program: string,
  name: "typed" | "metadata",
): Contestant {
  const file = (suffix: string): string => join(cluster.folder, `${name}.${suffix}`);
  return {
    name,
    userAgent: "bench-bridge/",
    runs: followRunLog(file("runs")),
    async start() {
      const go = await startGo({
        program,
        kubeconfig: cluster.kubeconfig,
        be: "controller",
        metadata: name === "metadata",
        logFile: file("log"),
        runs: file("runs"),
      });
      const { startedAt, pid } = go.process;
      return {
        startedAt,
        pids: { "controller-runtime": pid },
        ready: go.synced,
        stop: () => go.process.stop(),
      };
    },
    due: () => Promise.resolve(0),
    close: () => Promise.resolve(),
  };
}
