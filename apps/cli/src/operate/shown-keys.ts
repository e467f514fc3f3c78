import type { KeyReport } from "@drover/queue";
import { isoTime } from "../iso-time.ts";
import { roughly } from "../roughly.ts";
import { pagedTable } from "../table.ts";
import { reasonOf, stateOf } from "./key-state.ts";
import type { KeysAt } from "./wanted-keys.ts";

/** Keys of one function. */
export interface ListedKeys extends KeysAt {
  readonly fn: string;
}

/** Formats pages of keys as lines, one page after the other. */
export interface KeyWriter {
  readonly page: (listed: ListedKeys) => readonly string[];
  /** The lines after the last page. */
  readonly end: () => readonly string[];
}

export function keyTable(): KeyWriter {
  const page = pagedTable(["FUNCTION", "KEY", "STATE", "SINCE", "FAILURES", "REASON", "ERROR"]);
  return {
    page: ({ fn, keys, now }) =>
      page(
        keys.map((report) => [
          ...[fn, report.key, stateOf(report, now), sinceWords(report, now), String(report.fails)],
          ...[reasonOf(report), report.error ?? ""],
        ]),
      ),
    end: () => [],
  };
}

/** One JSON array, with a key on each line. */
export function keyJson(escaped: (text: string) => string): KeyWriter {
  let isFirst = true;
  return {
    page: ({ fn, keys, now }) =>
      keys.map((report) => {
        const before = isFirst ? "[" : ",";
        isFirst = false;
        return before + escaped(JSON.stringify(shownKey(fn, report, now)));
      }),
    end: () => [isFirst ? "[]" : "]"],
  };
}

const shownKey = (fn: string, report: KeyReport, now: number): object => ({
  function: fn,
  key: report.key,
  state: stateOf(report, now),
  at: isoTime(report.at),
  failures: report.fails,
  reason: reasonOf(report),
  error: report.error,
  account: report.account,
  pauses: report.pauses.map(({ since, ...pause }) => ({ ...pause, since: isoTime(since) })),
});

/** How long the key has been in its state, or in how long it is due. Of a running key only the lease's end is known. */
function sinceWords({ state, at }: KeyReport, now: number): string {
  if (state === "leased") return "now";
  return at > now ? `in ${roughly(at - now)}` : `${roughly(now - at)} ago`;
}
