import { parseJson } from "@drover/json";

/** Text that is not usable JSON. The message contains the problem, and nothing of the text. */
export class UnreadableJsonError extends Error {
  override readonly name = "UnreadableJsonError";
}

/** Maximum nesting depth of a message's JSON. */
const maxDepth = 100;
/**
 * Maximum number of fields of all objects of a message together. The cost of fields grows faster than their number: in
 * V8, 87,000 fields with numbers as names cost 13 times as much as 21,000.
 */
const maxFields = 30_000;

/**
 * Parses a JSON text in UTF-8.
 * @throws UnreadableJsonError for text that is not JSON, is nested too deep or has too many fields.
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

/** True if a JSON value has a field `__proto__`, at any depth: many ways to copy an object do not keep such a field. */
export function hasProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto);
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace, colon] = Buffer.from('"\\[]{}:');

/**
 * Why a JSON text is not parsed: it is nested too deep, or has too many fields; undefined otherwise. It counts in the
 * bytes, before any value is built: in UTF-8 no other character contains these bytes.
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
      if (++depth > maxDepth) return `is nested deeper than ${maxDepth}`;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
    else if (byte === colon && ++fields > maxFields) return `has more than ${maxFields} fields`;
  }
  return undefined;
}
