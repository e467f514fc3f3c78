import { expect, it } from "vitest";
import { eventHeaders } from "./call.ts";
import { callAt } from "./testing/call-mutants.ts";

it("a call is a CloudEvent, whose values are encoded as HTTP wants it", () => {
  const at = new Date("2026-01-01T00:00:00.123Z");
  const call = callAt(at.getTime(), { key: 'web/a"b%c \u00e9', token: "t-1" });
  const named = { ...call, audience: { name: "web/sp ace", uid: "u" } };
  expect(eventHeaders(named, "/drover/gateway", at)).toEqual({
    "content-type": "application/json",
    "ce-specversion": "1.0",
    "ce-type": call.type,
    "ce-id": "t-1",
    "ce-source": "/drover/gateway/web/sp%20ace",
    "ce-subject": "web/a%22b%25c%20%C3%A9",
    "ce-time": "2026-01-01T00:00:00.123Z",
  });
});
