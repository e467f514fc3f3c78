import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";

/** Resolves when that is done, or after that time, which keeps no process alive. Rejects when it fails before. */
export async function atMost(span: Milliseconds, done: Promise<unknown>): Promise<void> {
  const left = new AbortController();
  const late = delay(span, undefined, { ref: false, signal: left.signal }).catch(() => undefined);
  await Promise.race([done, late]).finally(() => left.abort());
}
