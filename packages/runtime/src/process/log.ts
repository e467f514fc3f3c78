import { type Log, type Milliseconds, messageOf, unprintable } from "@drover/controller";
import type { Run, RunOutcome } from "@drover/queue";
import { type Logger, pino } from "pino";
import { logFields } from "./log-fields.ts";

/**
 * Structured logs, one JSON line each, on standard output. `process` names the process in every line. Everything that
 * is logged passes through `logFields`: errors keep a few allowed fields, and texts are scrubbed of secrets. Characters
 * that a terminal or a line reader may interpret as more than text are escaped.
 */
export function openLog({ process: name, level = "info" }: { process: string; level?: string }): Logger {
  const log = pino({
    level,
    base: { process: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Pino's own serializer would change the result of logFields.
    serializers: { err: (shown: unknown) => shown },
    formatters: { level: (label) => ({ level: label }) },
    hooks: {
      logMethod(given, log) {
        const [first, ...rest] = given as readonly unknown[];
        const fields = first instanceof Error ? [{ err: first }, messageOf(first)] : [first];
        const shown = [...fields, ...rest].map(logFields);
        Reflect.apply(log, this, shown);
      },
      streamWrite: (line) => line.replace(unprintable, escaped),
    },
  });
  // Child loggers inherit this. Pino's own `child` would not scrub their fields.
  const child = Reflect.get(log, "child") as (...given: unknown[]) => unknown;
  const redacting = function (this: Logger, fields: object, options?: object): unknown {
    return Reflect.apply(child, this, [logFields(fields), options]);
  };
  return Object.defineProperty(log, "child", { value: redacting });
}

/** Escapes unprintable characters. In a line of JSON they can only be inside strings; the line break at the end stays. */
const escaped = (some: string): string =>
  some.replace(/[^\n]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Logs how a run ended. Good outcomes are logged at debug, because there are thousands a minute, and the queue's
 * history has the last runs of each key.
 *
 * @param fields are logged before the run's own.
 */
export function logRun(
  log: Log,
  message: string,
  { key, claim }: Run,
  { kind }: RunOutcome,
  duration: Milliseconds,
  fields: object = {},
): void {
  const level = kind === "done" || kind === "gone" ? "debug" : "info";
  log[level]({ ...fields, key, verdict: kind, ms: Math.round(duration), why: claim.reasons }, message);
}
