// Values as Go writes them in messages.
import { writeJson } from "@drover/json";
import { isArray, isNumber, isObject, isString } from "../json.ts";
import type { Json } from "../json.ts";

const escapes: Readonly<Record<string, string>> = {
  "<": String.raw`\u003c`,
  ">": String.raw`\u003e`,
  "&": String.raw`\u0026`,
  "\u2028": String.raw`\u2028`,
  "\u2029": String.raw`\u2029`,
};

/** A JSON text as Go encodes it, with escapes that make it safe inside of HTML. */
export const htmlSafe = (json: string): string =>
  json.replaceAll(/[<>&\u2028\u2029]/g, (letter) => escapes[letter] ?? letter);

/** Characters that Go escapes. */
const unprintable = /[\p{C}\p{Z}]/gu;
function escaped(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (letter === " ") return letter;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Bytes with a letter as escape in Go, but not in JSON. */
const named: Readonly<Record<string, string>> = { "07": String.raw`\a`, "0b": String.raw`\v` };

/** A quoted text as by strconv.Quote of Go. A name from a path may contain any byte. */
export const quoted = (text: string): string =>
  JSON.stringify(text)
    .replaceAll(/\\(?:\\|u(?:00|dc)(..))/g, (all, byte: string | undefined) =>
      byte === undefined ? all : (named[byte] ?? `\\x${byte}`),
    )
    .replaceAll(unprintable, escaped);

/** A number as Go prints it by %v: a fraction with more than six digits before the point has an exponent. */
export function goNumber(value: number | bigint): string {
  if (typeof value === "bigint") return String(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) || (size >= 1e-4 && size < 1e6)) return String(value);
  const [digits = "", exponent = "+0"] = value.toExponential().split("e");
  return `${digits}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, "0")}`;
}

/** A value as errors of fields show it. Sort data of maps before (`sorted`); a struct of Go keeps its order. */
export function shownValue(value: Json): string {
  if (isString(value)) return quoted(value);
  if (isNumber(value)) return goNumber(value);
  return isObject(value) || isArray(value) ? htmlSafe(writeJson(value)) : String(value);
}
