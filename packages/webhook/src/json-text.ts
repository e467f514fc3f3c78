/** Text that is no JSON that can be used. The message says what is wrong; it holds nothing of the text. */
export class UnreadableJsonError extends Error {
  override readonly name = "UnreadableJsonError";
}

/** How deep the JSON of a message may be nested. */
const deepest = 100;

/**
 * The value that a stranger's JSON has, in UTF-8.
 * @throws UnreadableJsonError for what is no JSON, or deeper than any message is.
 */
export function parseJson(body: Uint8Array): unknown {
  if (isDeeper(body, deepest)) throw new UnreadableJsonError(`is nested deeper than ${deepest}`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new UnreadableJsonError("is not JSON in UTF-8");
  }
}

/** Whether a value out of JSON has a field `__proto__`, which would become something else in many a copy. */
export function hasProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto);
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
