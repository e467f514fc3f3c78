import { type Log, type Milliseconds, messageOf, redact } from "@drover/controller";
import { sleep, type Timers, type CancelTimer } from "@drover/timers";
import type { LeasedKey, Ledger, RunReport, SettleAnswer, SlotRequest } from "../ledger/ledger.ts";
import type { Run, RunOutcome, WorkOptions } from "../work-queue/work-queue.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { type JobQueue, RunFailedError, tryAddJobs } from "./job-queue.ts";
import { type LeaseKeeper, LeaseLostError } from "./lease-keeper.ts";
import type { Slots } from "./slots.ts";

/** A run took longer than its controller allows. */
export class RunTimeoutError extends Error {
  override readonly name = "RunTimeoutError";
}

/** The process is stopping, and its grace period is over. */
export class StoppingError extends Error {
  override readonly name = "StoppingError";
}

/** How long a handler may take to return after its signal has fired. Then its slot is free for another key. */
const abortTimeout: Milliseconds = 1_000;
/** Pause before an outcome is sent again to a server that refused it. */
const settleRetryPause: Milliseconds = 200;

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

export interface RunnerParts extends WorkerParts {
  readonly slots: Slots;
  readonly handler: (run: Run) => Promise<RunOutcome>;
  readonly options: WorkOptions;
}

/** A finished run. */
interface FinishedRun {
  readonly run: Run;
  readonly outcome: RunOutcome;
  readonly duration: Milliseconds;
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
  async run(first: LeasedKey, maxRuns: number): Promise<void> {
    let leased: LeasedKey | undefined = first;
    for (let runs = 1; leased; runs++) leased = await this.#runOne(leased, runs < maxRuns);
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

  async #runOne(leased: LeasedKey, mayChain: boolean): Promise<LeasedKey | undefined> {
    const { handler, leases, timers, options } = this.#parts;
    const stop = new AbortController();
    if (this.#stopReason) stop.abort(this.#stopReason); // while this key was on its way
    this.#running.add(stop);
    const since = timers.now();
    try {
      const { run, outcome } = await performRun(leased, handler, {
        leases,
        timeout: options.timeout,
        timers,
        stop,
      });
      return await this.#settle(leased, { run, outcome, duration: timers.now() - since }, mayChain);
    } finally {
      this.#running.delete(stop);
    }
  }

  async #settle(
    { slot, arrival }: LeasedKey,
    finished: FinishedRun,
    mayChain: boolean,
  ): Promise<LeasedKey | undefined> {
    const { slots, dispatcher, jobQueue, log, options } = this.#parts;
    const { run, outcome, duration } = finished;
    const failed = outcome.kind === "retry" || outcome.kind === "terminal";
    const next = failed || this.#draining || !mayChain ? undefined : slots.nextRequest(slot);
    const answer = await settleWithRetry(this.#parts, finished, next).catch((error: unknown) => {
      slots.release(slot, next);
      throw error;
    });
    if (!next || answer.kind === "stale") slots.release(slot, next);
    else if (answer.chained) slots.markChained(slot, next);
    else slots.markAdvertised(slot, next);
    if (answer.kind === "stale") return undefined;
    if (answer.dueIn !== undefined) dispatcher.expectDueIn(answer.dueIn);
    await tryAddJobs(jobQueue, answer.jobs, log);
    options.onSettled?.(run, outcome, duration, arrival);
    if (failed) throw new RunFailedError(run.key, outcome.error);
    return answer.chained;
  }
}

/**
 * Sends a run's outcome to the ledger. If Redis refuses it (no memory, no permission), sends it again, for as long as a
 * lease lasts; then rejects with the last error.
 */
async function settleWithRetry(
  { ledger, lease, timers, log }: WorkerParts,
  finished: FinishedRun,
  next: SlotRequest | undefined,
): Promise<SettleAnswer> {
  const { key, token } = finished.run;
  const { outcome } = finished;
  const report = reportOf(finished);
  const until = timers.now() + lease;
  for (;;) {
    try {
      const answer = await ledger.settle(key, token, outcome, report, next);
      if (answer.kind === "stale") {
        log.warn({ key, verdict: outcome.kind }, "The run's lease was taken over; its outcome was refused");
      }
      return answer;
    } catch (error) {
      log.warn({ key, err: error }, "Redis did not accept the run's outcome; sending it again");
      if (timers.now() > until) throw error;
      await sleep(timers, settleRetryPause, "settling again");
    }
  }
}

const reportOf = ({ run, outcome, duration }: FinishedRun): RunReport => ({
  trigger: run.claim.reasons,
  duration: Math.round(duration),
  verdict: outcome.kind,
  ...("error" in outcome && { error: outcome.error.slice(0, 200) }),
  ...(run.claim.trace !== undefined && { trace: run.claim.trace }),
});

export interface PerformRunParts {
  readonly leases: LeaseKeeper;
  readonly timeout: Milliseconds;
  readonly timers: Timers;
  readonly stop: AbortController;
}

/**
 * Runs a key under its lease until there is an outcome. The handler returns it, or it results from what stopped the
 * run: the caller (`stop`), the end of the lease, or the timeout. Secrets are removed here from an error that goes into
 * Redis.
 */
export async function performRun(
  { key, token, claim, askedAt }: LeasedKey,
  handler: (run: Run) => Promise<RunOutcome>,
  { leases, timeout, timers, stop }: PerformRunParts,
): Promise<{ readonly run: Run; readonly outcome: RunOutcome }> {
  const lease = leases.keep({ key, token, askedAt }, (reason) => stop.abort(reason));
  const cancel = timers.after(timeout, "the run's timeout", () =>
    stop.abort(
      new RunTimeoutError(
        `The run of ${key} took longer than its timeout of ${timeout} ms and was stopped. It is retried with backoff. ` +
          "If this repeats, see the function's log for what took so long, or give the function a longer timeout.",
      ),
    ),
  );
  const run: Run = { key, token, claim, signal: stop.signal, hasLease: () => lease.isHeld() };
  // Released before the run is settled: after that the key may run elsewhere, and a handler that hangs must not write.
  const outcome = await runUntilAborted(handler, run, timers).finally(() => {
    cancel();
    lease.release();
  });
  return { run, outcome: "error" in outcome ? { ...outcome, error: redact(outcome.error) } : outcome };
}

/**
 * Resolves with the handler's outcome. If the signal fires and the handler does not return soon, resolves with an
 * outcome in its place, so that a hanging run frees its slot. The run's writes are refused by then, since `hasLease`
 * returns false.
 */
async function runUntilAborted(
  handler: (run: Run) => Promise<RunOutcome>,
  run: Run,
  timers: Timers,
): Promise<RunOutcome> {
  const { signal } = run;
  if (signal.aborted) return abortOutcome(signal.reason);
  const abandoned = Promise.withResolvers<RunOutcome>();
  let cancel: CancelTimer | undefined;
  const giveUp = (): void => {
    cancel = timers.after(abortTimeout, "a run that was stopped", () =>
      abandoned.resolve(abortOutcome(signal.reason)),
    );
  };
  signal.addEventListener("abort", giveUp, { once: true });
  const finished = (async () => handler(run))().catch((error: unknown): RunOutcome => ({
    kind: "retry",
    error: messageOf(error),
  }));
  return Promise.race([finished, abandoned.promise]).finally(() => {
    signal.removeEventListener("abort", giveUp);
    cancel?.();
  });
}

/** The outcome of a run after its signal has fired. */
export function abortOutcome(reason: unknown): RunOutcome {
  if (reason instanceof StoppingError || reason instanceof LeaseLostError) return { kind: "interrupted" };
  return { kind: "retry", error: messageOf(reason) };
}
