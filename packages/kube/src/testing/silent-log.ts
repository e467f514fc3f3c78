import type { Log } from "@drover/controller";

const quiet = (): void => undefined;

/** For tests that look at what happens, not at what is logged. */
export const silentLog: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
