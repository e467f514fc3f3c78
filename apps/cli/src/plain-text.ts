/** Control characters, ends of lines, and what turns the direction of writing: what no object may write to a terminal. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

/**
 * A text on one line. Messages come out of objects that anybody may have written: none writes to the terminal but
 * letters.
 */
export const oneLine = (text: string): string => text.replace(unprintable, " ");

/** A value as JSON, for programs and for terminals. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2)
    .split("\n")
    .map((line) => line.replace(unprintable, (some) => Array.from(some, escaped).join("")))
    .join("\n");

const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
