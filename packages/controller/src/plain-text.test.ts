import { expect, it } from "vitest";
import { oneLine } from "./plain-text.ts";

it.each([
  ["line breaks", "a\r\nb\u2028c\u2029d\u0085e", "a b c d e"],
  ["control sequences of a terminal", "a\u001b[2Jb\u009bc", "a [2Jb c"],
  ["characters that change the direction, or have no width", "a\u202eb\u200bc\ufeffd", "a b c d"],
  ["half of a surrogate pair", "a\ud800b", "a b"],
  ["letters of any script", "Ünïcödé 漢字 😀", "Ünïcödé 漢字 😀"],
])("oneLine handles %s", (_what, text, line) => {
  expect(oneLine(text)).toBe(line);
});
