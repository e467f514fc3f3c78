import { BodyRefusedError, readIncoming } from "@drover/runtime";
import { parseJson, UnreadableJsonError } from "@drover/webhook";
import type { IncomingMessage } from "node:http";
import { EventRefusedError } from "./event-refused.ts";
import type { SentHeaders } from "./sent-headers.ts";

/** Bytes of the largest event that is taken. */
export const largestEvent = 2 ** 20;

/**
 * Refuses by the headers alone what no hook takes.
 * @throws EventRefusedError
 */
export function refuseForm(headers: SentHeaders): void {
  const encoding = headers.one("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    throw new EventRefusedError(
      "unsupported",
      "A compressed body is not taken. Send it without Content-Encoding.",
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

/** @throws EventRefusedError when it is too large, or is cut off. */
export async function readBody(incoming: IncomingMessage): Promise<Uint8Array> {
  try {
    return await readIncoming(incoming, largestEvent);
  } catch (error) {
    if (!(error instanceof BodyRefusedError)) throw error;
    if (error.why === "too large") throw tooLarge();
    throw new EventRefusedError("malformed", "The body was cut off, or took too long. Send it again.");
  }
}

const tooLarge = (): EventRefusedError =>
  new EventRefusedError("too large", `An event has at most ${largestEvent} bytes. Send less.`);

/** @throws EventRefusedError when it is no JSON, or deeper than any event is. */
export function parseBody(body: Uint8Array): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof UnreadableJsonError)) throw error;
    throw new EventRefusedError("malformed", `The body ${error.message}. Send JSON, flatter than that.`);
  }
}
