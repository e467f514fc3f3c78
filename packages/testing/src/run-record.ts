import type { ObjectKey } from "@drover/controller";
import type { Entry } from "@drover/fault-proxy";
import type { Verdict } from "@drover/queue";

/** One run of one key, and what it did. */
export interface RunRecord {
  /** 1, 2, ... */
  readonly number: number;
  readonly controller: string;
  readonly key: ObjectKey;
  /** Why it ran, such as `Added`, `Modified`. */
  readonly reasons: readonly string[];
  /** What it came to; `killed` when its process died in it. */
  readonly verdict: Verdict | { readonly kind: "killed" };
  /** It asked to be looked at again after a time. */
  readonly asksAgain: boolean;
  /** The requests that it made, in order. */
  readonly calls: readonly Entry[];
}

/** The requests of a run that changed something. */
export const writesOf = ({ calls }: Pick<RunRecord, "calls">): readonly Entry[] =>
  calls.filter(({ call, committed }) => call.isWrite && committed === true);

/** `fails: ...`, for people. */
export function verdictWords({ verdict }: Pick<RunRecord, "verdict">): string {
  switch (verdict.kind) {
    case "retry":
      return `fails: ${verdict.error}`;
    case "terminal":
      return `gives up: ${verdict.error}`;
    case "wait":
      return `waits ${verdict.after} ms`;
    case "throttled":
      return `waits ${verdict.after} ms, as ${verdict.account} was told to`;
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
