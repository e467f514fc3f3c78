import type { Milliseconds } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";

/** Pause between two reads of what is waited for. */
export const pollInterval: Milliseconds = 250;

/** Resolves to true when a condition is met, and to false if it is not after a time. */
export async function waitUntil(longest: Milliseconds, isMet: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + longest;
  while (!(await isMet())) {
    if (performance.now() >= end) return false;
    await delay(pollInterval);
  }
  return true;
}
