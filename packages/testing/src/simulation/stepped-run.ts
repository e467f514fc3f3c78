import type { ObjectKey } from "@drover/controller";
import type { CallRecord } from "../fault-proxy/index.ts";
import type { RunOutcome } from "@drover/queue";

/** One run of one key, and what it did. */
export interface SteppedRun {
  /** 1, 2, ... */
  readonly number: number;
  readonly controller: string;
  readonly key: ObjectKey;
  /** Why it ran, such as `Added`, `Modified`. */
  readonly reasons: readonly string[];
  /** What it came to; `killed` when its process died in it. */
  readonly outcome: RunOutcome | { readonly kind: "killed" };
  /** It asked to be looked at again after a time. */
  readonly requestsRequeue: boolean;
  /** The requests that it made, in order. */
  readonly calls: readonly CallRecord[];
}

/** The requests of a run that changed something. */
export const writesOf = ({ calls }: Pick<SteppedRun, "calls">): readonly CallRecord[] =>
  calls.filter(({ call, committed }) => call.isWrite && committed === true);

/** `fails: ...`, for people. */
export function describeOutcome({ outcome }: Pick<SteppedRun, "outcome">): string {
  switch (outcome.kind) {
    case "retry":
      return `fails: ${outcome.error}`;
    case "terminal":
      return `gives up: ${outcome.error}`;
    case "wait":
      return `waits ${outcome.after} ms`;
    case "throttled":
      return `waits ${outcome.after} ms, as ${outcome.account} was told to`;
    case "conflict":
      return "meets a conflict";
    case "interrupted":
      return "is interrupted";
    case "killed":
      return "is killed";
    case "paused":
      return "finds the object paused";
    case "gone":
      return "finds the object gone";
    case "done":
      return "is done";
  }
}
