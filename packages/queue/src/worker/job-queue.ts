import type { Log, ObjectKey } from "@drover/controller";

/** A BullMQ job that asks a worker to claim one due key. `number` makes its job id unique. */
export interface ClaimJob {
  readonly key: ObjectKey;
  readonly number: string;
}

/** A run failed. The job that started it fails with this error, so that dashboards show the failure. */
export class RunFailedError extends Error {
  override readonly name = "RunFailedError";
  /** The key of the failed run. It is not the job's key if the run was chained to the outcome of an earlier one. */
  readonly key: ObjectKey;

  constructor(key: ObjectKey, why: string) {
    super(why);
    this.key = key;
  }
}

/** Takes jobs from the waiting list and passes their keys to a callback. */
export interface JobConsumer {
  /** Takes no more jobs. Resolves when the jobs already taken have been processed. */
  stop(): Promise<void>;
}

/**
 * The queue's interface to BullMQ, which brings a job to any free worker. A lost, duplicate or late job is harmless.
 */
export interface JobQueue {
  add(jobs: readonly ClaimJob[]): Promise<void>;
  /** Adds a job that fails, so that dashboards show a failed run that no job had started. */
  addFailed(failed: RunFailedError): Promise<void>;
  /** Returns those of the given jobs that still wait to be taken. */
  stillWaiting(jobs: readonly ClaimJob[]): Promise<readonly ClaimJob[]>;
  /**
   * Calls `processJob` for each job, at most `concurrency` at once. If it throws, dashboards show a failed job; for a
   * `RunFailedError`, one with the key in the error.
   */
  consume(processJob: (key: ObjectKey) => Promise<void>, concurrency: number): JobConsumer;
  close(): Promise<void>;
}

/** Adds jobs. An error is only logged: a dispatcher adds lost jobs again. */
export const tryAddJobs = (jobQueue: JobQueue, jobs: readonly ClaimJob[], log: Log): Promise<void> =>
  jobQueue.add(jobs).catch((error: unknown) => log.debug({ err: error }, "Could not add jobs to BullMQ"));
