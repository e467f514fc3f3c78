import type { PseudoRandom } from "@drover/random";

/** What patterns of CRDs are made of, and what JavaScript, PCRE or Java would take and RE2 does not. */
const common = ["a", "b", "Z", "0", "-", ".", "[a-z]", "[^a-z]", "\\d", "\\w", "^", "$", "k", "\\s", "é"];
const rare = [
  ...["9", "_", "/", ":", " ", "😀", "\u00a0", "ſ", "K", "İ", "{", "}", "{,3}", "{a}", "]", "&&"],
  ...[
    "\\D",
    "\\W",
    "\\S",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\Z",
    "\\Qa.b\\E",
    "\\Q",
    "\\C",
    "\\R",
    "\\X",
    "\\h",
    "\\K",
  ],
  ...[
    "\\x41",
    "\\x{41}",
    "\\x{1F600}",
    "\\x{110000}",
    "\\u0041",
    "\\u{41}",
    "\\cA",
    "\\e",
    "\\a",
    "\\G",
    "\\N",
  ],
  ...[
    "\\pL",
    "\\PL",
    "\\p{Lu}",
    "\\p{Greek}",
    "\\p{^Lu}",
    "\\P{^Lu}",
    "\\p{IsGreek}",
    "\\p{Any}",
    "\\p{Latin}",
  ],
  ...[
    "\\p{Script=Greek}",
    "\\p{Letter}",
    "\\p{ASCII}",
    "\\p{Emoji}",
    "\\p{Cn}",
    "\\p{LC}",
    "\\p{greek}",
    "\\p{Old_Italic}",
  ],
  ...["[[:alpha:]]", "[[:^digit:]]", "[[:word:]]", "[[:foo:]]", "[:alpha:]", "[a[:digit:]]", "[\\[:a]"],
  ...[
    "[]a]",
    "[^]a]",
    "[]",
    "[^]",
    "[a-]",
    "[-a]",
    "[a-\\d]",
    "[\\d-a]",
    "[--\\w]",
    "[\\w.-]",
    "[z-a]",
    "[\\b]",
  ],
  ...["[\\pL\\d]", "[\\x{41}-\\x{5A}]", "[é-ü]", "[😀-😂]", "[a&&b]", "[a||b]", "[a[^]", "[\\]a]", "[^^]"],
  ...[
    "\\n",
    "\\t",
    "\\r",
    "\\f",
    "\\v",
    "\\0",
    "\\01",
    "\\012",
    "\\12",
    "\\1",
    "\\8",
    "\\k<n>",
    "\\-",
    "\\/",
    "\\é",
    "\\_",
    "\\.",
  ],
  ...["(?i)", "(?s)", "(?m)", "(?U)", "(?-i)", "(?is-U)", "(?x)", "(?i", "()"],
];
const openings = [
  ...["(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?i-s:", "(?P<n>", "(?<n>", "(?<1a>", "(?P=n)"],
  ...["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#", "(?P<n", "(?'n'", "(?|"],
];
const repeats = [
  ...["*", "+", "?", "*?", "+?", "??", "*+", "**", "{2}", "{2,}", "{1,3}", "{1,3}?", "{0}", "{3,1}"],
  ...["{1000}", "{1001}", "{02}", "{1,03}", "{00}", "{2, 3}"],
];

/** A pattern, mostly one that Go compiles. */
export function randomPattern(random: PseudoRandom, depth = 3): string {
  const atoms = Array.from({ length: random.between(1, 4) }, () => {
    const atom = random.chance(0.2) && depth > 0 ? group(random, depth) : single(random);
    return `${atom}${random.chance(0.3) ? random.oneOf(repeats) : ""}${random.chance(0.1) ? "|" : ""}`;
  });
  return atoms.join("");
}

const group = (random: PseudoRandom, depth: number): string => {
  const named = `<n${random.between(0, 999)}>`;
  const opening = random.chance(0.8)
    ? random.oneOf(["(", "(?:", "(?i:", `(?P${named}`, `(?${named}`])
    : random.oneOf(openings);
  return `${opening}${randomPattern(random, depth - 1)}${random.chance(0.97) ? ")" : ""}`;
};

const single = (random: PseudoRandom): string => random.oneOf(random.chance(0.7) ? common : rare);

const characters = [
  ...[
    "a",
    "b",
    "Z",
    "z",
    "0",
    "9",
    "-",
    "_",
    ".",
    "/",
    ":",
    " ",
    "\n",
    "\t",
    "{",
    "]",
    "\\",
    "a.b",
    "A",
    "Q",
    "x",
    "2",
  ],
  ...[
    "é",
    "É",
    "😀",
    "\u00a0",
    "ſ",
    "s",
    "K",
    "k",
    "K",
    "i",
    "I",
    "İ",
    "ı",
    "Σ",
    "ς",
    "Ω",
    "漢",
    "ß",
    "ẞ",
    "\u2028",
  ],
  ...["\u0085", "\u0001", "\ud800", "\ufeff", "\r", "\v", "\0", "l", "p", "L", "𐌀"],
];

export const randomText = (random: PseudoRandom): string =>
  Array.from({ length: random.between(0, 4) }, () => random.oneOf(characters)).join("");
