import { randomUUID } from "node:crypto";

declare global {
  interface JSON {
    /** Both functions are in Node since 22; TypeScript does not declare them yet. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * Parses JSON as Kubernetes does: an integer that fits 64 bits keeps its digits, every other number is a double.
 * Integers up to 2^53 - 1 are numbers, larger ones are BigInts.
 *
 * It parses as deep as `JSON.parse` does. A reviver would be simpler, but its stack ends at 2,300 levels: one object
 * that an API server accepts would make the complete list of its kind unreadable.
 *
 * @throws SyntaxError for text that is not JSON.
 */
export function parseJson(text: string): unknown {
  if (!longInteger.test(text)) return JSON.parse(text);
  // Prefix of the strings that stand for integers. It is random and used once, so no text can contain it.
  const mark = randomUUID();
  const marked = withMarks(text, mark);
  if (marked === undefined) return JSON.parse(text);
  try {
    return withIntegers(JSON.parse(marked), mark);
  } catch (error) {
    // The error must show the text as it was given, without the mark.
    JSON.parse(text);
    throw error;
  }
}

/**
 * Matches wherever a text has an integer of 16 digits or more, which may be beyond 2^53. It may match inside a string
 * too, which only costs time.
 */
const longInteger = /(?:^|[[:,\s])-?[1-9]\d{15}/;

/**
 * Such an integer as a value, in the text between two strings: not a part of another number, and not a field's name. An
 * integer of more than 19 digits does not fit 64 bits: it stays as it is, and becomes a double.
 */
const longValue = /(?<![\w.+-])-?[1-9]\d{15,18}(?=\s*(?:[,\]}]|$))/g;

/** The text with its long integers replaced by strings; undefined if it has none. */
function withMarks(text: string, mark: string): string | undefined {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : quote;
    if (end - at > shortest) {
      for (const { 0: digits, index } of text.slice(at, end).matchAll(longValue)) {
        parts.push(text.slice(copied, at + index), `"${mark}${digits}"`);
        copied = at + index + digits.length;
      }
    }
    at = quote < 0 ? text.length : endOfString(text, quote);
  }
  return parts.length === 0 ? undefined : parts.join("") + text.slice(copied);
}

const shortest = 15;

/** The index after a string; the end of the text if the string does not end. */
function endOfString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === "\\") before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Replaces the marked strings by their integers. */
function withIntegers(value: unknown, mark: string): unknown {
  const root = { value };
  const left: object[] = [root];
  for (let holder = left.pop(); holder !== undefined; holder = left.pop()) {
    for (const [name, part] of Object.entries(holder) as [string, unknown][]) {
      if (typeof part === "string" && part.startsWith(mark)) {
        Reflect.set(holder, name, exactInteger(BigInt(part.slice(mark.length))));
      } else if (typeof part === "object" && part !== null) left.push(part);
    }
  }
  return root.value;
}

/** An integer as `parseJson` returns it. */
export function exactInteger(value: bigint): number | bigint {
  const number = Number(value);
  return isInt64(value) && !Number.isSafeInteger(number) ? value : number;
}

/** True if an integer fits 64 bits. Kubernetes rounds larger ones. */
export const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** A BigInt that Kubernetes would round. */
export class IntegerTooLargeError extends Error {
  override readonly name = "IntegerTooLargeError";

  constructor(field: string, value: bigint) {
    super(`${field}: ${value} has more than 64 bits, and Kubernetes would round it. Write it as text.`);
  }
}

/**
 * Writes a value as JSON; a BigInt is written as an integer.
 *
 * @throws IntegerTooLargeError for a BigInt of more than 64 bits, TypeError for a value that contains itself.
 */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // JSON.stringify refuses every BigInt, and a value that contains itself.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(withRawIntegers(value), undefined, indent);
  }
}

/** A copy with BigInts as raw JSON, which `JSON.stringify` writes as integers. A replacer would halve the depth. */
function withRawIntegers(value: unknown): unknown {
  const root = { value };
  const copies = new Map<object, object>();
  const left: object[] = [root];
  const copyOf = (part: object): object => {
    const known = copies.get(part);
    if (known !== undefined) return known;
    const copy = Array.isArray(part) ? [...(part as unknown[])] : { ...part };
    copies.set(part, copy);
    left.push(copy);
    return copy;
  };
  for (let holder = left.pop(); holder !== undefined; holder = left.pop()) {
    for (const [name, part] of Object.entries(holder) as [string, unknown][]) {
      if (typeof part === "bigint") Reflect.set(holder, name, rawInteger(name, part));
      else if (typeof part === "object" && part !== null && !("toJSON" in part) && !JSON.isRawJSON(part)) {
        Reflect.set(holder, name, copyOf(part));
      }
    }
  }
  return root.value;
}

function rawInteger(name: string, value: bigint): object {
  if (!isInt64(value)) throw new IntegerTooLargeError(name, value);
  return JSON.rawJSON(value.toString());
}
