import type { Milliseconds, Resource } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { Run, Verdict } from "@drover/queue";
import { isUnchanged, noProgress, type Statement } from "./stated-status.ts";

/** The end of a run: the statement to write to the status, and the outcome for the queue. */
export interface RunEnd {
  readonly statement: Statement;
  readonly verdict: Verdict;
}

interface EndingRun {
  readonly controller: { readonly for: Pick<Resource, "foreign"> };
  readonly now?: () => Date;
  readonly run: Run;
  readonly hasWritten: () => boolean;
}

/** A shorter wait counts as a request for the next run at once. */
const atOnce: Milliseconds = 1_000;
/** From this many failures in a row on, the lack of progress becomes a condition. */
const fewFails = 2;

/**
 * A run may request the next one at once if it has written to the cluster, or if its statement differs from the current
 * status. Otherwise it is retried with backoff, like a failed run, so that the key does not run again and again at full
 * speed.
 */
export function withProgress(
  { controller, run, hasWritten, now = () => new Date() }: EndingRun,
  raw: KubeObject,
  end: RunEnd,
): RunEnd {
  const { statement, verdict } = end;
  const asksAtOnce = "after" in verdict && verdict.kind !== "retry" && (verdict.after ?? atOnce) < atOnce;
  if (!asksAtOnce || hasWritten()) return end;
  // Other clients write the status of a foreign kind, so it does not show progress.
  if (!controller.for.foreign && !isUnchanged(raw, statement, now())) return end;
  const isNews = run.claim.fails < fewFails;
  const account = "account" in verdict ? verdict.account : undefined;
  return {
    statement: isNews ? statement : { ...statement, conditions: [...statement.conditions, noProgress] },
    verdict: { kind: "retry", error: noProgress.message, ...(account !== undefined && { account }) },
  };
}
