import type { Log, Milliseconds } from "@drover/controller";
import { pause, type Timers } from "@drover/timers";
import type { Ledger, RunRecord, SettleAnswer, Taker } from "./ledger.ts";
import type { Run, Verdict } from "./work-queue.ts";

/** Pause before an outcome is sent again to a server that refused it. */
const settleAgain: Milliseconds = 200;

/** A finished run. */
export interface EndedRun {
  readonly run: Run;
  readonly verdict: Verdict;
  readonly duration: Milliseconds;
  /** The token and version under which another key may be chained to the run; undefined if none may. */
  readonly next: Taker | undefined;
}

export interface SettlingParts {
  readonly ledger: Ledger;
  readonly lease: Milliseconds;
  readonly timers: Timers;
  readonly log: Log;
}

/**
 * Sends a run's outcome to the ledger. If Redis refuses it (no memory, no permission), sends it again, for as long as a
 * lease lasts; then rejects with the last error.
 */
export async function settleSurely(
  { ledger, lease, timers, log }: SettlingParts,
  ended: EndedRun,
): Promise<SettleAnswer> {
  const { key, token } = ended.run;
  const { verdict, next } = ended;
  const record = recordOf(ended);
  const until = timers.now() + lease;
  for (;;) {
    try {
      const answer = await ledger.settle(key, token, verdict, record, next);
      if (answer.kind === "stale") {
        log.warn({ key, verdict: verdict.kind }, "The run's lease was taken over; its outcome was refused");
      }
      return answer;
    } catch (error) {
      log.warn({ key, err: error }, "Redis did not accept the run's outcome; sending it again");
      if (timers.now() > until) throw error;
      await pause(timers, settleAgain, "settling again");
    }
  }
}

const recordOf = ({ run, verdict, duration }: EndedRun): RunRecord => ({
  trigger: run.claim.reasons,
  duration: Math.round(duration),
  verdict: verdict.kind,
  ...("error" in verdict && { error: verdict.error.slice(0, 200) }),
  ...(run.claim.trace !== undefined && { trace: run.claim.trace }),
});
