import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after that time, or at once when the signal fires. */
export const pause = (span: Milliseconds, signal: AbortSignal): Promise<void> =>
  delay(span, undefined, { signal }).catch(() => undefined);

/** Resolves when that is done, or after that time. */
export async function atMost(span: Milliseconds, done: Promise<unknown>): Promise<void> {
  const left = new AbortController();
  await Promise.race([done, pause(span, left.signal)]);
  left.abort();
}
