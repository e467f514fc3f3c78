import type { Log } from "./controller.ts";

/** Says nothing to nobody. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
