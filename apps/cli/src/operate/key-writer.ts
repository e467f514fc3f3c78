import type { KeyReport } from "@drover/queue";
import { isoTime } from "../iso-time.ts";
import { shortDuration } from "../short-duration.ts";
import { pagedTable } from "../table.ts";
import { reasonOf, displayState } from "./key-state.ts";
import type { KeyReportPage } from "./filter-keys.ts";

/** Keys of one function. */
export interface ListedKeys extends KeyReportPage {
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
          ...[fn, report.key, displayState(report, now), describeSince(report, now), String(report.fails)],
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
        return before + escaped(JSON.stringify(keyAsJson(fn, report, now)));
      }),
    end: () => [isFirst ? "[]" : "]"],
  };
}

const keyAsJson = (fn: string, report: KeyReport, now: number): object => ({
  function: fn,
  key: report.key,
  state: displayState(report, now),
  at: isoTime(report.at),
  failures: report.fails,
  reason: reasonOf(report),
  error: report.error,
  account: report.account,
  pauses: report.pauses.map(({ since, ...pause }) => ({ ...pause, since: isoTime(since) })),
});

/** How long the key has been in its state, or in how long it is due. Of a running key only the lease's end is known. */
function describeSince({ state, at }: KeyReport, now: number): string {
  if (state === "leased") return "now";
  return at > now ? `in ${shortDuration(at - now)}` : `${shortDuration(now - at)} ago`;
}
