declare global {
  interface JSON {
    /** In Node since 22; TypeScript does not declare it yet. */
    rawJSON(text: string): object;
  }
}

/**
 * Matches wherever a text has an integer of 16 digits, which may be one beyond 2^53. It may match inside a string too: then
 * only time is lost.
 */
const longInteger = /(?:^|[[:,\s])-?[1-9]\d{15}/;

/**
 * Parses JSON as Kubernetes does: an integer that fits 64 bits keeps its digits, every other number is a double. Integers
 * up to 2^53 - 1 are numbers, larger ones are BigInts.
 *
 * @throws SyntaxError for text that is not JSON, RangeError for JSON that is nested too deep to be visited.
 */
export function parseJson(text: string): unknown {
  return longInteger.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
}

function exact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined) throw new Error("Integers of 64 bits need Node 22 or newer: start it with that.");
  return /^-?\d+$/.test(source) ? exactInteger(BigInt(source)) : value;
}

/** An integer as `parseJson` gives it. */
export function exactInteger(value: bigint): number | bigint {
  const number = Number(value);
  return isInt64(value) && !Number.isSafeInteger(number) ? value : number;
}

/** Whether an integer has 64 bits at most. Kubernetes rounds larger ones. */
export const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** A BigInt that Kubernetes would round. */
export class IntegerTooLargeError extends RangeError {
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
    // It refuses every BigInt. A replacer doubles the time, and few values need it.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, asNumber, indent);
  }
}

function asNumber(name: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  if (!isInt64(value)) throw new IntegerTooLargeError(name, value);
  return JSON.rawJSON(value.toString());
}
