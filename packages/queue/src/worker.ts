import type { Log, Milliseconds, ObjectKey } from "@drover/controller";
import { randomUUID } from "node:crypto";
import type { Bells } from "./bells.ts";
import { type LeaseKeeper, LeaseLostError } from "./lease-keeper.ts";
import type { Ledger, SettleAnswer } from "./ledger.ts";
import type { Ringer } from "./ringer.ts";
import type { PastRun, QueueWorker, Run, Verdict, WorkOptions } from "./work-queue.ts";

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
/** How long a verdict waits before it is told again to a server that refused it. */
const settleAgain: Milliseconds = 200;

export interface WorkerParts {
  readonly ledger: Ledger;
  readonly bells: Bells;
  readonly ringer: Ringer;
  readonly leases: LeaseKeeper;
  readonly lease: Milliseconds;
  readonly log: Log;
}

/** Answers bells: claim, run, settle. */
export function startWorker(
  parts: WorkerParts,
  handler: (run: Run) => Promise<Verdict>,
  options: WorkOptions,
): QueueWorker {
  const { ledger, bells, ringer } = parts;
  const running = new Set<AbortController>();

  const answer = async (key: ObjectKey): Promise<void> => {
    const token = randomUUID();
    const askedAt = performance.now();
    const outcome = await ledger.claim(key, token, options.version);
    if ("refused" in outcome) return;
    const stop = new AbortController();
    const lease = parts.leases.keep({ key, token, askedAt }, (reason) => stop.abort(reason));
    const timer = setTimeout(
      () => stop.abort(new RunTimeoutError(`The run of ${key} took longer than ${options.timeout} ms.`)),
      options.timeout,
    );
    const run: Run = { key, token, claim: outcome.claimed, signal: stop.signal, held: () => lease.held() };
    running.add(stop);
    try {
      // Released before it is settled: from then on the key may run elsewhere, and a handler that hangs must not write.
      const verdict = await untilAborted(handler, run).finally(() => {
        clearTimeout(timer);
        lease.release();
      });
      await settle(run, verdict, askedAt);
    } finally {
      running.delete(stop);
    }
  };

  const settle = async (run: Run, verdict: Verdict, startedAt: number): Promise<void> => {
    const duration = performance.now() - startedAt;
    const answer = await settleSurely(parts, run, verdict, pastRun(run, verdict, duration));
    if (answer.kind === "stale") return;
    if (answer.dueIn !== undefined) ringer.expect(answer.dueIn);
    await bells.add(answer.bells);
    options.onSettled?.(run, verdict, duration);
    if (verdict.kind === "retry" || verdict.kind === "terminal") throw new RunFailedError(verdict.error);
  };

  const leaveList = ringer.enlist(options);
  const listener = bells.listen(answer, options.concurrency);
  return {
    active: () => running.size,
    async drain(grace) {
      const left = leaveList();
      const giveUp = (): void => {
        for (const stop of running) stop.abort(new StoppingError("The process is stopping."));
      };
      const timer = setTimeout(giveUp, grace);
      await listener.stop();
      clearTimeout(timer);
      await left;
    },
  };
}

/** Tell the ledger, again and again where it cannot take it now (no memory, no permission), for as long as a lease. */
async function settleSurely(
  { ledger, lease, log }: WorkerParts,
  run: Run,
  verdict: Verdict,
  past: PastRun,
): Promise<SettleAnswer> {
  const { key, token } = run;
  const until = performance.now() + lease;
  for (;;) {
    try {
      const answer = await ledger.settle(key, token, verdict, past);
      if (answer.kind === "stale") {
        log.warn({ key, verdict: verdict.kind }, "The run's lease was taken over; its verdict was refused");
      }
      return answer;
    } catch (error) {
      log.warn({ key, err: error }, "Redis did not take the run's verdict; telling it again");
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, settleAgain));
    }
  }
}

const pastRun = (run: Run, verdict: Verdict, duration: Milliseconds): PastRun => ({
  at: new Date().toISOString(),
  trigger: run.claim.reasons,
  duration: Math.round(duration),
  verdict: verdict.kind,
  ...("error" in verdict && { error: verdict.error.slice(0, 200) }),
  ...(run.claim.trace !== undefined && { trace: run.claim.trace }),
});

/**
 * The handler's verdict; when the signal fires and the handler does not return soon, a verdict in its place: a hanging
 * run gives its slot back. Its writes are refused by then, since `held` says no.
 */
async function untilAborted(handler: (run: Run) => Promise<Verdict>, run: Run): Promise<Verdict> {
  const { signal } = run;
  const given = Promise.withResolvers<Verdict>();
  const giveUp = (): void =>
    void setTimeout(() => given.resolve(abortVerdict(signal.reason)), lastWords).unref();
  signal.addEventListener("abort", giveUp, { once: true });
  const finished = (async () => handler(run))().catch((error: unknown): Verdict => ({
    kind: "retry",
    error: String(error),
  }));
  return Promise.race([finished, given.promise]);
}

/** What a run comes to whose signal has fired. */
export function abortVerdict(reason: unknown): Verdict {
  if (reason instanceof StoppingError || reason instanceof LeaseLostError) return { kind: "interrupted" };
  return { kind: "retry", error: reason instanceof Error ? reason.message : String(reason) };
}
