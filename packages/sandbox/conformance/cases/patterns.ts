// Patterns of schemas, which regexp of Go (RE2) reads.
import { definitions, spec } from "../fixtures.ts";
import { caseOf, named, post } from "../steps.ts";
import type { Case } from "../steps.ts";
import { text } from "../schemas.ts";
import { inHome, madeWith, thing, thingsWith } from "../things.ts";

/** Patterns that JavaScript reads in another way or not at all, with texts, some of which match. */
const patterns: readonly (readonly [string, ...string[]])[] = [
  ["^(?i)(on|off)$", "ON", "oFf", "o"],
  ["^((?i)mon|tue)day$", "MONday", "TUEday", "Tueday", "tueday"],
  ["^[[:alpha:]]+$", "ab", "a1", ":", "a:]"],
  ["\\Aab\\z", "ab", "ab\n", "Aabz"],
  ["^\\pL+$", "aé漢", "pL", "1"],
  ["^\\p{Greek}+$", "αβ", "a"],
  ["^(?P<year>[0-9]{4})$", "2026", "26"],
  ["^(?s).*$", "a\nb", ""],
  ["^.*$", "a\nb", "a\rb", "a\u2028b"],
  ["^\\Qa.b\\E$", "a.b", "axb", "Qa.bE"],
  ["^\\x{41}$", "A", "x".repeat(41)],
  ["^a{02}$", "aa", "a{02}"],
  ["^[]a]$", "]", "a", "a]"],
  ["^[^\\s]$", " ", "\u00a0", "\v"],
  ["^.$", "😀", "é", "ab"],
  ["^(?U)a+$", "aaa"],
  ["^([a-z0-9]+-?)+$", `${"a".repeat(40)}!`],
];

const refused = [
  "a(?=b)",
  "(?<!a)b",
  "(a)\\1",
  "a{1001}",
  "[]",
  "\\u0041",
  "(?x)a",
  "a**",
  "(",
  "\\p{Nothing}",
];

const properties = Object.fromEntries(patterns.map(([pattern], i) => [`p${i}`, { ...text, pattern }]));

export const patternCases: readonly Case[] = [
  caseOf(
    "values",
    ...madeWith(spec(properties)),
    ...patterns.flatMap(([, ...texts], i) =>
      texts.map((value) => post(`${inHome()}?dryRun=All`, thing("a", { [`p${i}`]: value }))),
    ),
  ),
  ...refused.map((pattern) =>
    caseOf(
      `refused: ${pattern}`,
      named("answer", post(`${definitions}?dryRun=All`, thingsWith(spec({ a: { ...text, pattern } })))),
    ),
  ),
];
