import { unprintable } from "@drover/controller";
import { writeJson } from "@drover/json";

/** A value as indented JSON that is safe to print on a terminal. */
export const printableJson = (value: unknown): string =>
  writeJson(value, 2).split("\n").map(printable).join("\n");

/** Escapes the unprintable characters of a line of JSON. The result parses to the same value. */
export const printable = (line: string): string =>
  line.replace(unprintable, (some) => some.split("").map(escaped).join(""));

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
