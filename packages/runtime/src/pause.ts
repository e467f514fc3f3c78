import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after that time, or at once when the signal fires. */
export const pause = (span: Milliseconds, signal: AbortSignal): Promise<void> =>
  delay(span, undefined, { signal }).catch(() => undefined);

/** Asked anew after each wait, which the type checker does not expect of a property. */
export const isOver = (signal: AbortSignal): boolean => signal.aborted;
