import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after that time, or at once when the signal fires. */
export const sleepUnlessAborted = (span: Milliseconds, signal: AbortSignal): Promise<void> =>
  delay(span, undefined, { signal }).catch(() => undefined);

/** `signal.aborted` as a call, because the type checker assumes that a property stays the same during a wait. */
export const isAborted = (signal: AbortSignal): boolean => signal.aborted;
