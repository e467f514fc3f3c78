import type { Log, Milliseconds } from "@drover/controller";
import { sleep, type Timers } from "@drover/timers";
import type { Ledger, RunReport, SettleAnswer, ClaimRequest } from "../ledger/ledger.ts";
import type { Run, RunOutcome } from "../work-queue/work-queue.ts";

/** Pause before an outcome is sent again to a server that refused it. */
const settleRetryPause: Milliseconds = 200;

/** A finished run. */
export interface SettleRequest {
  readonly run: Run;
  readonly outcome: RunOutcome;
  readonly duration: Milliseconds;
  /** The token and version under which another key may be chained to the run; undefined if none may. */
  readonly next: ClaimRequest | undefined;
}

export interface SettleParts {
  readonly ledger: Ledger;
  readonly lease: Milliseconds;
  readonly timers: Timers;
  readonly log: Log;
}

/**
 * Sends a run's outcome to the ledger. If Redis refuses it (no memory, no permission), sends it again, for as long as a
 * lease lasts; then rejects with the last error.
 */
export async function settleWithRetry(
  { ledger, lease, timers, log }: SettleParts,
  request: SettleRequest,
): Promise<SettleAnswer> {
  const { key, token } = request.run;
  const { outcome, next } = request;
  const report = reportOf(request);
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

const reportOf = ({ run, outcome, duration }: SettleRequest): RunReport => ({
  trigger: run.claim.reasons,
  duration: Math.round(duration),
  verdict: outcome.kind,
  ...("error" in outcome && { error: outcome.error.slice(0, 200) }),
  ...(run.claim.trace !== undefined && { trace: run.claim.trace }),
});
