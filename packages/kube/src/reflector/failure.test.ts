import { expect, it } from "vitest";
import { ApiError, type ApiErrorKind, ConnectionError, MalformedReplyError } from "../errors.ts";
import { failureOf, receiverFailed } from "./failure.ts";

const answered = (kind: ApiErrorKind): ApiError =>
  new ApiError({ kind, status: 500, reason: "", serverMessage: "no", request: "GET /x", retryAfter: 7 });

it.each<[string, Error, string]>([
  ["passing", new ConnectionError("GET /x", "ECONNREFUSED", "no connection"), "NoAnswer"],
  ["doubtful", new MalformedReplyError("GET /x", "it is not JSON."), "MalformedReply"],
  ["passing", new Error("a fault of ours"), "Unexpected"],
])("is %s: %s", (kind, error, reason) => {
  expect(failureOf(error)).toMatchObject({ kind, reason, message: error.message });
});

it.each<[string, ApiErrorKind]>([
  ["expired", "Expired"],
  ["passing", "TooManyRequests"],
  ["passing", "ServerError"],
  ["doubtful", "Timeout"],
  ["doubtful", "Conflict"],
  ["doubtful", "AlreadyExists"],
  ["refused", "Forbidden"],
  ["refused", "Unauthorized"],
  ["refused", "NotServed"],
  ["refused", "NotFound"],
  ["refused", "Invalid"],
])("is %s if the API server answered %s, and keeps its Retry-After", (kind, reason) => {
  expect(failureOf(answered(reason))).toMatchObject({ kind, reason, retryAfter: 7 });
});

it("is transient if the receiver of events failed, with any error", () => {
  expect(receiverFailed(answered("Forbidden"))).toMatchObject({
    kind: "passing",
    reason: "ReceiverFailed",
    retryAfter: undefined,
  });
});
