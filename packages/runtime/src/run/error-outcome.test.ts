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
  ["what is no error", "no", retry(), "Failed"],
  ["a write that its guard refused", new WriteRefusedError("PUT /"), { kind: "interrupted" }, undefined],
  [
    "an API server that is not there",
    new ConnectionError("GET /", "", "no"),
    retry(),
    "ApiServerUnreachable",
  ],
  ["a change by another", api("Conflict"), { kind: "conflict" }, undefined],
  ["too many requests", api("TooManyRequests", 3_000), retry(3_000), "TooManyRequests"],
  ["an API server that is unwell", api("ServerError", 4_000), retry(4_000), "ServerError"],
  ["an API server that is unwell, and says not for how long", api("ServerError"), retry(), "ServerError"],
  ["a permission that is missing", api("Forbidden"), retry(), "Forbidden"],
  ["a kind that is not served", api("NotServed"), retry(), "NotServed"],
  ["an API server that ran out of time", api("Timeout"), retry(), "Timeout"],
])(
  "%s comes to what happens next, and to a word in the Ready condition",
  (_what, error, expected, reason) => {
    const outcome = outcomeOfError(error, undefined);
    expect(outcome.outcome).toMatchObject(expected);
    expect("after" in outcome.outcome).toBe("after" in expected);
    expect(outcome.ready?.reason).toBe(reason);
    if (outcome.ready) expect(outcome.ready).toMatchObject({ type: "Ready", status: "False" });
  },
);

it.each<[string, Error, RunOutcome["kind"], string | undefined]>([
  ["its time is up", new RunTimeoutError("time is up"), "retry", "TimedOut"],
  ["its process stops", new StoppingError("stopping"), "interrupted", undefined],
  ["its lease is lost", new LeaseLostError("lost"), "interrupted", undefined],
])("whatever is thrown once %s is its echo", (_what, reason, kind, word) => {
  for (const error of [new TerminalError("no"), new RetryAfterError("later", { after: "1h" }), reason]) {
    const { outcome, ready } = outcomeOfError(error, reason);
    expect(outcome.kind).toBe(kind);
    expect(ready?.reason).toBe(word);
  }
});
