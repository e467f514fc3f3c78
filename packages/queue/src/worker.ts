import type { Log, Milliseconds, ObjectKey } from "@drover/controller";
import { randomUUID } from "node:crypto";
import type { Bells } from "./bells.ts";
import { keepLease, LeaseLostError } from "./lease.ts";
import type { Ledger } from "./ledger.ts";
import type { Ringer } from "./ringer.ts";
import type { QueueWorker, Run, Verdict, WorkOptions } from "./work-queue.ts";

/** A run took longer than its controller allows. */
export class RunTimeoutError extends Error {
  override readonly name = "RunTimeoutError";
}

/** The process is stopping and its grace is over. */
export class StoppingError extends Error {
  override readonly name = "StoppingError";
}

/** A failed run fails its bell, so that dashboards show what an operator expects. */
class RunFailedError extends Error {
  override readonly name = "RunFailedError";
}

/** How long a handler whose signal has fired may take to return before its slot is given to another key. */
const lastWords: Milliseconds = 1_000;

export interface WorkerParts {
  readonly ledger: Ledger;
  readonly bells: Bells;
  readonly ringer: Ringer;
  readonly lease: Milliseconds;
  readonly renewal: Milliseconds;
  readonly log: Log;
}

/** Answers bells: claim, run, settle. */
export function startWorker(
  parts: WorkerParts,
  handler: (run: Run) => Promise<Verdict>,
  options: WorkOptions,
): QueueWorker {
  const { ledger, bells, ringer, log } = parts;
  const stopping = new AbortController();
  let active = 0;

  const answer = async (key: ObjectKey): Promise<void> => {
    const token = randomUUID();
    const askedAt = performance.now();
    const outcome = await ledger.claim(key, token);
    if ("refused" in outcome) return;
    const lease = keepLease({ ledger, key, token, duration: parts.lease, renewal: parts.renewal, askedAt });
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(new RunTimeoutError(`The run of ${key} took longer than ${options.timeout} ms.`)),
      options.timeout,
    );
    const signal = AbortSignal.any([lease.lost, timeout.signal, stopping.signal]);
    const run: Run = { key, token, claim: outcome.claimed, signal, held: () => lease.held() };
    active++;
    try {
      // Released before it is settled: from then on the key may run elsewhere, and a handler that hangs must not write.
      const verdict = await untilAborted(handler, run).finally(() => {
        clearTimeout(timer);
        lease.release();
      });
      await settle(run, verdict, performance.now() - askedAt);
    } finally {
      active--;
    }
  };

  const settle = async (run: Run, verdict: Verdict, duration: Milliseconds): Promise<void> => {
    const answer = await ledger.settle(run.key, run.token, verdict);
    if (answer.kind === "stale") {
      log.warn(
        { key: run.key, verdict: verdict.kind },
        "The run's lease was taken over; its verdict was refused",
      );
      return;
    }
    if (answer.dueIn !== undefined) ringer.expect(answer.dueIn);
    await bells.add(answer.bells);
    options.onSettled?.(run, verdict, duration);
    if (verdict.kind === "retry" || verdict.kind === "terminal") throw new RunFailedError(verdict.error);
  };

  const listener = bells.listen(answer, options.concurrency);
  return {
    active: () => active,
    async drain(grace) {
      const timer = setTimeout(() => stopping.abort(new StoppingError("The process is stopping.")), grace);
      await listener.stop();
      clearTimeout(timer);
    },
  };
}

/**
 * The handler's verdict; when `signal` fires and the handler does not return soon, a verdict in its place: a hanging run
 * gives its slot back. Its writes are refused by then, since `held` says no.
 */
async function untilAborted(handler: (run: Run) => Promise<Verdict>, run: Run): Promise<Verdict> {
  const { signal } = run;
  const finished = (async () => handler(run))().catch((error: unknown): Verdict => ({
    kind: "retry",
    error: String(error),
  }));
  const given = new Promise<Verdict>((resolve) => {
    const giveUp = (): void => void setTimeout(() => resolve(abortVerdict(signal.reason)), lastWords).unref();
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
  return Promise.race([finished, given]);
}

/** What a run comes to whose signal has fired. */
export function abortVerdict(reason: unknown): Verdict {
  if (reason instanceof StoppingError || reason instanceof LeaseLostError) return { kind: "interrupted" };
  return { kind: "retry", error: reason instanceof Error ? reason.message : String(reason) };
}
