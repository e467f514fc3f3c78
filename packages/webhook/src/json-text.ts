import { parseJson } from "@drover/json";

/** Text that is no JSON that can be used. The message says what is wrong; it holds nothing of the text. */
export class UnreadableJsonError extends Error {
  override readonly name = "UnreadableJsonError";
}

/** How deep the JSON of a message may be nested. */
const deepest = 100;
/**
 * Fields that all objects of a message may have together. Tables of fields grow by more than their number: in V8, 87,000
 * fields with numbers for names cost 13 times as much as 21,000.
 */
const mostFields = 30_000;

/**
 * The value of a JSON text in UTF-8.
 * @throws UnreadableJsonError for text that is not JSON, or that is larger inside than a message may be.
 */
export function parseMessage(body: Uint8Array): unknown {
  const problem = shapeProblem(body);
  if (problem !== undefined) throw new UnreadableJsonError(problem);
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new UnreadableJsonError("is not JSON in UTF-8");
  }
}

/** Whether a value out of JSON has a field `__proto__`, which would become something else in many a copy. */
export function hasProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto);
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace, colon] = Buffer.from('"\\[]{}:');

/**
 * Why a JSON text is not parsed: it is too deep, or has too many fields. Counted in the bytes, before anything is built of
 * them: in UTF-8 no other character has these bytes in it.
 */
export function shapeProblem(body: Uint8Array): string | undefined {
  let depth = 0;
  let fields = 0;
  let inText = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (inText) {
      if (byte === backslash) i++;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > deepest) return `is nested deeper than ${deepest}`;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte === colon && ++fields > mostFields) return `has more than ${mostFields} fields`;
  }
  return undefined;
}
