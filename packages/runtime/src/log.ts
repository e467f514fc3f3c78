import type { Log, Milliseconds } from "@drover/controller";
import type { Run, Verdict } from "@drover/queue";
import { pino, type Logger } from "pino";

/** Structured logs, one JSON line each, on standard output. `process` names the process in every line. */
export function openLog({ process: name, level = "info" }: { process: string; level?: string }): Logger {
  return pino({
    level,
    base: { process: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}

/**
 * Tells how a run ended: at debug where it ended well, for those are thousands a minute, and the queue's history has each
 * key's last.
 *
 * @param fields that are told before the run's own.
 */
export function tellOfRun(
  log: Log,
  message: string,
  { key, claim }: Run,
  { kind }: Verdict,
  duration: Milliseconds,
  fields: object = {},
): void {
  const level = kind === "done" || kind === "gone" ? "debug" : "info";
  log[level]({ ...fields, key, verdict: kind, ms: Math.round(duration), why: claim.reasons }, message);
}
