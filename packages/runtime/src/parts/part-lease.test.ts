import { silentLog } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepPartLease } from "./part-lease.ts";

// The clock moves on to the next timer as soon as nothing else is left to do.
beforeEach(() => void vi.useFakeTimers().setTimerTickMode("nextTimerAsync"));
afterEach(() => void vi.useRealTimers());

const holds = 40_000;
/** Keeps a Lease on an API server with these answers. */
async function keptWhile(answers: readonly ("yes" | "no")[]) {
  const startedAt = Date.now();
  const renewed: number[] = [];
  const warnings: string[] = [];
  const ending = new AbortController();
  const patch = (): Promise<void> => {
    renewed.push(Date.now() - startedAt);
    const answer = answers[renewed.length - 1];
    if (renewed.length === answers.length) ending.abort();
    return answer === "no" ? Promise.reject(new Error("no answer")) : Promise.resolve();
  };
  await keepPartLease({
    client: { patch } as unknown as KubeClient,
    namespace: "drover",
    part: "bridge",
    version: "0.1.0",
    holds,
    signal: ending.signal,
    log: { ...silentLog, warn: (...entry: unknown[]) => void warnings.push(String(entry.at(-1))) },
  });
  return { renewed, warnings };
}

it("a Lease is renewed four times in its duration, and as often while renewals fail", async () => {
  const { renewed } = await keptWhile(["yes", "yes", "no", "no", "yes"]);
  expect(renewed).toEqual([0, 10_000, 20_000, 30_000, 40_000]);
});

it("a failure to renew is logged once, and again after a success", async () => {
  const { warnings } = await keptWhile(["no", "no", "yes", "yes", "no", "no", "yes"]);
  const message = "Could not renew the Lease drover/bridge: functions will be reported to have no bridge";
  expect(warnings).toEqual([message, message]);
});
