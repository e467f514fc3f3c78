import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Waits for `done`, but not longer than `span`. Rejects if `done` rejects within that time. The timer does not keep the
 * process alive.
 */
export async function waitAtMost(span: Milliseconds, done: Promise<unknown>): Promise<void> {
  const left = new AbortController();
  const late = delay(span, undefined, { ref: false, signal: left.signal }).catch(() => undefined);
  await Promise.race([done, late]).finally(() => left.abort());
}
