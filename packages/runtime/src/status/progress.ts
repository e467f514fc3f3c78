import type { Milliseconds, Resource } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { Run, RunOutcome } from "@drover/queue";
import { isStatusUnchanged, noProgressCondition, type StatusReport } from "./status-writer.ts";

/** The end of a run: the statement to write to the status, and the outcome for the queue. */
export interface RunEnd {
  readonly report: StatusReport;
  readonly outcome: RunOutcome;
}

interface EndingRun {
  readonly controller: { readonly for: Pick<Resource, "foreign"> };
  readonly now?: () => Date;
  readonly run: Run;
  readonly guard: { hasWritten(): boolean };
}

/** A shorter wait counts as a request for the next run at once. */
const immediateBelow: Milliseconds = 1_000;
/** From this many failures in a row on, the lack of progress becomes a condition. */
const failsBeforeStalled = 2;

/**
 * A run may request the next one at once if it has written to the cluster, or if its statement differs from the current
 * status. Otherwise it is retried with backoff, like a failed run, so that the key does not run again and again at full
 * speed.
 */
export function retryWithoutProgress(
  { controller, run, guard, now = () => new Date() }: EndingRun,
  raw: KubeObject,
  end: RunEnd,
): RunEnd {
  const { report, outcome } = end;
  const isImmediate =
    "after" in outcome && outcome.kind !== "retry" && (outcome.after ?? immediateBelow) < immediateBelow;
  if (!isImmediate || guard.hasWritten()) return end;
  // Other clients write the status of a foreign kind, so it does not show progress.
  if (!controller.for.foreign && !isStatusUnchanged(raw, report, now())) return end;
  const isNews = run.claim.fails < failsBeforeStalled;
  const account = "account" in outcome ? outcome.account : undefined;
  return {
    report: isNews ? report : { ...report, conditions: [...report.conditions, noProgressCondition] },
    outcome: { kind: "retry", error: noProgressCondition.message, ...(account !== undefined && { account }) },
  };
}
