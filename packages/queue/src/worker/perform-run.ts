import { messageOf, type Milliseconds, redact } from "@drover/controller";
import { type LeaseKeeper, LeaseLostError } from "./lease-keeper.ts";
import type { CancelTimer, Timers } from "@drover/timers";
import type { LeasedKey } from "../ledger/ledger.ts";
import type { Run, RunOutcome } from "../work-queue/work-queue.ts";

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
    stop.abort(new RunTimeoutError(`The run of ${key} took longer than ${timeout} ms.`)),
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
