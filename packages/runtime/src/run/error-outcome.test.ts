import {
  ConflictError,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { ApiError, type ApiErrorKind, ConnectionError, WriteRefusedError } from "@drover/kube";
import { LeaseLostError, RunTimeoutError, StoppingError, type RunOutcome } from "@drover/queue";
import { expect, it } from "vitest";
import { outcomeOfError } from "./error-outcome.ts";

const api = (kind: ApiErrorKind, retryAfter?: number): ApiError =>
  new ApiError({ kind, status: 500, reason: kind, serverMessage: "no", request: "GET /", retryAfter });
const retry = (after?: number): Partial<RunOutcome> => ({
  kind: "retry",
  ...(after !== undefined && { after }),
});

it.each<[string, unknown, Partial<RunOutcome>, string | undefined]>([
  ["a terminal error", new TerminalError("no", { reason: "Bad" }), { kind: "terminal" }, "Bad"],
  ["a wait", new RetryAfterError("not yet", { after: "7s" }), { kind: "wait", after: 7_000 }, "Waiting"],
  [
    "a throttled account",
    new ThrottledError("no", { account: "a", after: "2m" }),
    { kind: "throttled", account: "a", after: 120_000 },
    "Throttled",
  ],
  ["a conflict", new ConflictError("again"), { kind: "conflict" }, undefined],
  ["a failure with a reason", new RetryError("no", { reason: "Odd" }), retry(), "Odd"],
  ["any other error", new TypeError("no"), retry(), "Failed"],
  ["a thrown string", "no", retry(), "Failed"],
  ["a write that its guard refused", new WriteRefusedError("PUT /"), { kind: "interrupted" }, undefined],
  [
    "an API server that is not reachable",
    new ConnectionError("GET /", "", "no"),
    retry(),
    "ApiServerUnreachable",
  ],
  ["a change by another", api("Conflict"), { kind: "conflict" }, undefined],
  ["too many requests", api("TooManyRequests", 3_000), retry(3_000), "TooManyRequests"],
  ["a server error with Retry-After", api("ServerError", 4_000), retry(4_000), "ServerError"],
  ["a server error", api("ServerError"), retry(), "ServerError"],
  ["a missing permission", api("Forbidden"), retry(), "Forbidden"],
  ["a kind that is not served", api("NotServed"), retry(), "NotServed"],
  ["a timeout of the API server", api("Timeout"), retry(), "Timeout"],
])("%s has its outcome, and its reason in the Ready condition", (_what, error, expected, reason) => {
  const outcome = outcomeOfError(error, undefined);
  expect(outcome.outcome).toMatchObject(expected);
  expect("after" in outcome.outcome).toBe("after" in expected);
  expect(outcome.ready?.reason).toBe(reason);
  if (outcome.ready) expect(outcome.ready).toMatchObject({ type: "Ready", status: "False" });
});

it.each<[string, Error, RunOutcome["kind"], string | undefined]>([
  ["its timeout", new RunTimeoutError("time is up"), "retry", "TimedOut"],
  ["a stop of its process", new StoppingError("stopping"), "interrupted", undefined],
  ["the loss of its lease", new LeaseLostError("lost"), "interrupted", undefined],
])("every error after %s has the outcome of the abort", (_what, reason, kind, expected) => {
  for (const error of [new TerminalError("no"), new RetryAfterError("later", { after: "1h" }), reason]) {
    const { outcome, ready } = outcomeOfError(error, reason);
    expect(outcome.kind).toBe(kind);
    expect(ready?.reason).toBe(expected);
  }
});
