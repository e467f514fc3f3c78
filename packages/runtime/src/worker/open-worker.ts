import type { Controller, Log, Milliseconds, QueueName } from "@drover/controller";
import {
  openWorkQueue,
  type QueueDurations,
  type RedisConnection,
  type WorkOptions,
  type WorkQueue,
} from "@drover/queue";
import { logRun } from "../process/log.ts";
import type { RunMetrics } from "../process/process-metrics.ts";

/** The resources of all workers of a process. */
export interface WorkerProcess {
  readonly log: Log;
  readonly times: Partial<QueueDurations>;
  readonly runs: RunMetrics;
}

export interface WorkerOptions extends WorkerProcess {
  readonly queue: QueueName;
  readonly redis: RedisConnection;
  /** Limits the runs: how many at once, how long each takes, how soon one is retried, and how many start per second. */
  readonly controller: Pick<Controller, "concurrency" | "timeout" | "retry"> & Pick<WorkOptions, "limits">;
  /** Increases with every rollout: a key that a newer version has run is not run by an older one. */
  readonly version: number;
  /** Logged when a run has ended, with these fields and the run's own. */
  readonly ended: { readonly message: string; readonly fields?: object };
}

/** Processes the keys of one queue. */
export interface Worker {
  readonly queue: WorkQueue;
  /** Takes no new key from the moment of the call, and lets the runs in progress end within the grace. */
  drain(grace: Milliseconds): Promise<void>;
}

/** Opens a queue and processes its keys from now on. */
export function openWorker(
  { queue: name, redis, controller, log, times, runs, version, ended }: WorkerOptions,
  handle: Parameters<WorkQueue["work"]>[0],
): Worker {
  // `own`: no SCAN over the keys of other functions. The bridge does that for all queues.
  const queue = openWorkQueue({ redis, controller: name, log, times, upkeep: "own" });
  const { concurrency, timeout, retry: backoff, limits } = controller;
  const work = queue.work(handle, {
    concurrency,
    timeout,
    version,
    backoff,
    ...(limits !== undefined && { limits }),
    onSettled(run, outcome, duration, by) {
      runs.settled(name, run, outcome, duration, by);
      logRun(log, ended.message, run, outcome, duration, ended.fields);
    },
  });
  return { queue, drain: (grace) => work.drain(grace) };
}
