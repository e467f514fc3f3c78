import type { Log } from "./definition/controller.ts";

/** A log that discards everything. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
