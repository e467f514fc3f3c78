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
