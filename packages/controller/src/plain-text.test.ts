import { expect, it } from "vitest";
import { oneLine } from "./plain-text.ts";

it.each([
  ["ends of lines", "a\r\nb\u2028c\u2029d\u0085e", "a b c d e"],
  ["what a terminal obeys", "a\u001b[2Jb\u009bc", "a [2Jb c"],
  ["what turns the direction of writing, or has no width", "a\u202eb\u200bc\ufeffd", "a b c d"],
  ["half of a surrogate pair", "a\ud800b", "a b"],
  ["letters of any script", "Ünïcödé 漢字 😀", "Ünïcödé 漢字 😀"],
])("a text on one line has none of: %s", (_what, text, line) => {
  expect(oneLine(text)).toBe(line);
});
