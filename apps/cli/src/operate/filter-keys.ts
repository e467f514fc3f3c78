import { type KeyReport, listedPages, type WorkQueue } from "@drover/queue";
import { listedStates, reasonOf, type DisplayState, displayState } from "./key-state.ts";

/** Selects keys. */
export interface KeyFilter {
  /** Undefined: all states except idle. */
  readonly state: DisplayState | undefined;
  /** Only keys with this text in their reason or last error, in any case. */
  readonly reason?: string | undefined;
  /** Only keys of this namespace. */
  readonly namespace?: string | undefined;
}

/** Keys, and the time at which they were read. */
export interface KeyReportPage {
  readonly keys: readonly KeyReport[];
  /** Redis' clock, ms. */
  readonly now: number;
}

/** The selected keys of a queue, in Redis' pages: at most one page is in memory. */
export async function* filterKeys(
  queue: Pick<WorkQueue, "list" | "notRunSince">,
  wanted: KeyFilter,
): AsyncGenerator<KeyReportPage, void, undefined> {
  const { now } = await queue.notRunSince([], 0);
  for (const list of listedStates(wanted.state)) {
    for await (const page of listedPages(queue, list)) {
      const found = page.filter((report) => isWanted(report, wanted, now));
      if (found.length > 0) yield { keys: found, now };
      // The list is sorted by time: after the first key with a future time, none is due.
      if (list === "waits" && isDueOnly(wanted) && (page.at(-1)?.at ?? 0) > now) break;
    }
  }
}

const isDueOnly = ({ state }: KeyFilter): boolean => state === "due" || state === "paused";

function isWanted(report: KeyReport, { state, reason, namespace }: KeyFilter, now: number): boolean {
  const is = displayState(report, now);
  if (state === "failing" ? report.fails === 0 : state !== undefined && state !== is) return false;
  if (namespace !== undefined && !report.key.startsWith(`${namespace}/`)) return false;
  if (reason === undefined) return true;
  const text = `${reasonOf(report)}\n${report.error ?? ""}`.toLowerCase();
  return text.includes(reason.toLowerCase());
}
