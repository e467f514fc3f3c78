import { expect, it } from "vitest";
import { matches, patternProblem } from "./pattern.ts";

it.each([
  ["^(?i)(on|off)$", "oFf", true],
  ["^((?i)mon|tue)day$", "MONday", true],
  ["^((?i)mon|tue)day$", "monDay", false],
  ["^[[:alpha:]]+$", "a:]", false],
  ["\\Aab\\z", "ab\n", false],
  ["^\\pL+$", "é漢", true],
  ["^(?P<year>[0-9]{4})$", "2026", true],
  ["^(?s).*$", "a\nb", true],
  ["^\\Qa.b\\E$", "axb", false],
  ["^\\x{41}$", "A", true],
  ["^.$", "😀", true],
  ["^\ufffd$", "\ud800", true],
])("%s is matched as Go does: %j", (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

it.each([
  ["a(?=b)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"],
  ["\\p{Letter}", "the sandbox does not know the property \\p{Letter}"],
  ["\\p{^Greek}\\P{Lu}", undefined],
])("%s is refused for what it is", (pattern, problem) => {
  if (problem === undefined) expect(patternProblem(pattern)).toBeUndefined();
  else expect(patternProblem(pattern)).toContain(problem);
});
