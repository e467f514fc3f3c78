import { MessageRefusedError, parseMessage, UnreadableJsonError } from "@drover/webhook";
import type { SentHeaders } from "./verification/sent-headers.ts";

/** Size limit of an event's body, in bytes. */
export const largestEvent = 2 ** 20;

/**
 * Refuses events that are not sent as JSON.
 * @throws MessageRefusedError
 */
export function refuseType(headers: SentHeaders): void {
  const [type = ""] = (headers.one("content-type") ?? "").split(";");
  if (/^application\/(cloudevents\+)?json$/i.test(type.trim())) return;
  throw new MessageRefusedError(
    "unsupported",
    "Send JSON, with Content-Type application/json or application/cloudevents+json.",
  );
}

/** @throws MessageRefusedError if it is not JSON, or nested too deeply. */
export function parseBody(body: Uint8Array): unknown {
  try {
    return parseMessage(body);
  } catch (error) {
    if (!(error instanceof UnreadableJsonError)) throw error;
    throw new MessageRefusedError("malformed", `The body ${error.message}. Send JSON with less nesting.`);
  }
}
