import { tryAddJobs, RunFailedError, type JobQueue } from "./job-queue.ts";
import { performRun, StoppingError, type RunAssignment } from "./perform-run.ts";
import { settleWithRetry } from "./settle-with-retry.ts";
import type { Slots } from "./slots.ts";
import type { Arrival, Run, RunOutcome, WorkOptions } from "../work-queue/work-queue.ts";
import type { Log, Milliseconds } from "@drover/controller";
import type { Timers } from "@drover/timers";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Dispatcher } from "./dispatcher.ts";

export interface RunnerParts extends WorkerParts {
  readonly slots: Slots;
  readonly handler: (run: Run) => Promise<RunOutcome>;
  readonly options: WorkOptions;
}

/** A finished run. */
interface FinishedRun {
  readonly run: Run;
  readonly outcome: RunOutcome;
  /** The slot that it took. */
  readonly slot: string;
  readonly by: Arrival;
  /** When it began, by `timers.now()`. */
  readonly since: number;
  /** True if another key may be chained to it. */
  readonly mayChain: boolean;
}

/** Runs the keys of a worker's slots: each one to its outcome, and then the key that is chained to the run. */
export class Runner {
  readonly #parts: RunnerParts;
  readonly #running = new Set<AbortController>();
  #draining = false;
  /** Set once the grace period is over: the reason for which every run is stopped. */
  #stopReason: StoppingError | undefined;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Number of runs in progress. */
  get active(): number {
    return this.#running.size;
  }

  /**
   * Runs a key, and those that are chained to it, at most `maxRuns` in all.
   *
   * @throws RunFailedError if a run failed: no key is chained to a failed run.
   */
  async run(first: RunAssignment, maxRuns: number): Promise<void> {
    let assignment: RunAssignment | undefined = first;
    for (let runs = 1; assignment; runs++) assignment = await this.#runOne(assignment, runs < maxRuns);
  }

  /** From now on no key is chained to a run. */
  drain(): void {
    this.#draining = true;
  }

  /** Stops the runs in progress, and those that begin later. */
  stopRuns(): void {
    this.#stopReason = new StoppingError("The process is stopping.");
    for (const stop of this.#running) stop.abort(this.#stopReason);
  }

  async #runOne(assignment: RunAssignment, mayChain: boolean): Promise<RunAssignment | undefined> {
    const { handler, leases, timers, options } = this.#parts;
    const stop = new AbortController();
    if (this.#stopReason) stop.abort(this.#stopReason); // while this key was on its way
    this.#running.add(stop);
    const since = timers.now();
    try {
      const { run, outcome } = await performRun(assignment, handler, {
        leases,
        timeout: options.timeout,
        timers,
        stop,
      });
      return await this.#settle({ run, outcome, since, mayChain, slot: assignment.slot, by: assignment.by });
    } finally {
      this.#running.delete(stop);
    }
  }

  async #settle({
    run,
    outcome,
    slot,
    by,
    since,
    mayChain,
  }: FinishedRun): Promise<RunAssignment | undefined> {
    const { slots, dispatcher, jobQueue, timers, log, options } = this.#parts;
    const askedAt = timers.now();
    const duration = askedAt - since;
    const failed = outcome.kind === "retry" || outcome.kind === "terminal";
    const next = failed || this.#draining || !mayChain ? undefined : slots.nextRequest(slot);
    const answer = await settleWithRetry(this.#parts, { run, outcome, duration, next }).catch(
      (error: unknown) => {
        slots.release(slot, next);
        throw error;
      },
    );
    if (!next || answer.kind === "stale") slots.release(slot, next);
    else if (answer.chained) slots.markChained(slot, next);
    else slots.markAdvertised(slot, next);
    if (answer.kind === "stale") return undefined;
    if (answer.dueIn !== undefined) dispatcher.expectDueIn(answer.dueIn);
    await tryAddJobs(jobQueue, answer.jobs, log);
    options.onSettled?.(run, outcome, duration, by);
    if (failed) throw new RunFailedError(run.key, outcome.error);
    return (
      next &&
      answer.chained && { ...answer.chained, token: next.token, slot: next.token, askedAt, by: "handed" }
    );
  }
}

export interface WorkerParts {
  readonly ledger: Ledger;
  readonly jobQueue: JobQueue;
  readonly dispatcher: Dispatcher;
  readonly leases: LeaseKeeper;
  readonly lease: Milliseconds;
  /** Leases and advertised slots are renewed this often. */
  readonly renewal: Milliseconds;
  readonly timers: Timers;
  /** Makes a unique name for a worker, a slot or a run. */
  readonly newId: () => string;
  readonly log: Log;
}
