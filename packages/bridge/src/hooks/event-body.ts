import { BodyRefusedError, type IncomingBody } from "@drover/runtime";
import { parseMessage, UnreadableJsonError } from "@drover/webhook";
import { EventRefusedError, unavailable } from "./event-refused.ts";
import type { SentHeaders } from "./verification/sent-headers.ts";

/** Size limit of an event's body, in bytes. */
export const largestEvent = 2 ** 20;

/**
 * Refuses requests that no hook accepts, by their headers alone.
 * @throws EventRefusedError
 */
export function refuseForm(headers: SentHeaders): void {
  const encoding = headers.one("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new EventRefusedError(
      "unsupported",
      "A compressed body is not accepted. Send it without Content-Encoding.",
    );
  }
  const [type = ""] = (headers.one("content-type") ?? "").split(";");
  if (!/^application\/(cloudevents\+)?json$/i.test(type.trim())) {
    throw new EventRefusedError(
      "unsupported",
      "Send JSON, with Content-Type application/json or application/cloudevents+json.",
    );
  }
  if (Number(headers.one("content-length") ?? 0) > largestEvent) throw tooLarge();
}

/** @throws EventRefusedError if the complete body cannot be read. */
export async function readBody(body: Pick<IncomingBody, "read">): Promise<Uint8Array> {
  try {
    return await body.read();
  } catch (error) {
    throw error instanceof BodyRefusedError ? refusalOf(error) : error;
  }
}

/** The sender receives the message only for a body that is too large. In all other cases its connection is closed. */
function refusalOf({ why, message }: BodyRefusedError): EventRefusedError {
  switch (why) {
    case "too large":
      return tooLarge();
    case "cut off":
    case "too slow":
      return new EventRefusedError(
        "malformed",
        "The body was cut off, or came too slowly. Send it again.",
        message,
      );
    case "displaced":
      return unavailable("too many unverified bodies were in memory, and the oldest were dropped");
  }
}

const tooLarge = (): EventRefusedError =>
  new EventRefusedError("too large", `An event may have at most ${largestEvent} bytes. Send a smaller one.`);

/** @throws EventRefusedError if it is not JSON, or nested too deeply. */
export function parseBody(body: Uint8Array): unknown {
  try {
    return parseMessage(body);
  } catch (error) {
    if (!(error instanceof UnreadableJsonError)) throw error;
    throw new EventRefusedError("malformed", `The body ${error.message}. Send JSON with less nesting.`);
  }
}
