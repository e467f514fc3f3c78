import type { IncomingMessage } from "node:http";
import { EventRefusedError } from "./event-refused.ts";
import type { SentHeaders } from "./sent-headers.ts";

/** Bytes of the largest event that is taken. */
export const largestEvent = 2 ** 20;
const deepest = 100;

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
  const chunks: Buffer[] = [];
  let size = 0;
  const bodyOf: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of bodyOf) {
      size += chunk.length;
      if (size > largestEvent) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof EventRefusedError) throw error;
    throw new EventRefusedError("malformed", "The body was cut off, or took too long. Send it again.");
  }
  return Buffer.concat(chunks);
}

const tooLarge = (): EventRefusedError =>
  new EventRefusedError("too large", `An event has at most ${largestEvent} bytes. Send less.`);

/** @throws EventRefusedError when it is no JSON, or deeper than any event is. */
export function parseBody(body: Uint8Array): unknown {
  if (isDeeper(body, deepest)) {
    throw new EventRefusedError("malformed", `The body is nested deeper than ${deepest}. Send it flatter.`);
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new EventRefusedError("malformed", "The body is not JSON in UTF-8. Send it so.");
  }
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\[]{}');

/** Looked for in the bytes, before anything is built of them. In UTF-8 no other character has these bytes in it. */
function isDeeper(body: Uint8Array, most: number): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (inText) {
      if (byte === backslash) i++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > most) return true;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return false;
}
