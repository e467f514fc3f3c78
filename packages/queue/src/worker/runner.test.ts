import { objectKey } from "@drover/controller";
import { processTimers } from "@drover/timers";
import { expect, it } from "vitest";
import { performRun } from "./runner.ts";
import type { RunOutcome } from "../work-queue/work-queue.ts";

const key = objectKey({ namespace: "a", name: "b" });
const claim = { fails: 0, reasons: [], class: "change", versions: {} } as const;
const assignment = {
  key,
  token: "t",
  slot: "s",
  claim,
  askedAt: performance.now(),
  arrival: "dequeued",
} as const;

it.each<[string, () => Promise<RunOutcome>]>([
  ["retries", () => Promise.resolve({ kind: "retry", error: "GET http://me:canary@host failed" })],
  ["parks", () => Promise.resolve({ kind: "terminal", error: "GET http://me:canary@host failed" })],
  ["throws", () => Promise.reject(new Error("GET http://me:canary@host failed"))],
])("an error that goes into Redis is redacted: of a handler that %s", async (_, handler) => {
  const { outcome } = await performRun(assignment, handler, {
    leases: { keep: () => ({ isHeld: () => true, release: () => undefined }), stop: () => undefined },
    timeout: 60_000,
    timers: processTimers,
    stop: new AbortController(),
  });
  expect(outcome).toMatchObject({ error: "GET http://***@host failed" });
});
