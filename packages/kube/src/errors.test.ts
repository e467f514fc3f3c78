import { expect, it } from "vitest";
import { ApiError, type ApiErrorDetail } from "./errors.ts";

const messageOf = (detail: Pick<ApiErrorDetail, "kind" | "status">): string =>
  new ApiError({ ...detail, reason: "", serverMessage: "its message", request: "GET /api/v1/pods" }).message;

it("has the server's message after the request", () => {
  expect(messageOf({ kind: "Forbidden", status: 403 })).toBe(
    "The API server answered 403 to GET /api/v1/pods: its message",
  );
});

it("has advice about credentials before the server's message", () => {
  expect(messageOf({ kind: "Unauthorized", status: 401 })).toMatch(
    /^The API server answered 401 to GET \/api\/v1\/pods\. The credentials have expired.*\. The server's message: its message$/,
  );
});
