import { unprintable } from "@drover/controller";

/** A value as JSON, for programs and for terminals. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split("\n").map(printable).join("\n");

/** A line of JSON with what a terminal would not print as escapes: it parses to the same. */
export const printable = (line: string): string =>
  line.replace(unprintable, (some) => some.split("").map(escaped).join(""));

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
