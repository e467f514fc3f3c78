/** Keys that are hard to list or to delete: each once in every bucket of a test. */
export const oddKeys: readonly string[] = [
  ..."\r|a\rb|\r\r| |  a  |\t|\u0001|a\u0010b|\u001f|\u007f|\u0085|\u2028|\ufffe|\uffff|🪣|\u{10ffff}".split(
    "|",
  ),
  ...[
    "a+b",
    "a b",
    "a%2Fb",
    "%",
    "%00",
    "100%25",
    "&amp;",
    "&#13;",
    "<Key>",
    "]]>",
    '"',
    "'",
    "?versionId=1",
    "#",
  ],
  ...[
    "/a",
    "a//b",
    "a/",
    "..",
    "../a",
    "a/./b",
    "__proto__",
    "Ω≈ç√",
    "e\u0301",
    "\u202etxt",
    "k".repeat(1_024),
  ],
];

/** Names that XML 1.0 (section 2.2) has no way to write, and that a request must therefore name in its URL. */
export const isOdd = (key: string): boolean => /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(key);

/** So many different keys of random Unicode, every fifth of them with a character that is hard. */
export function randomKeys(count: number, random: () => number): readonly string[] {
  const below = (end: number): number => Math.floor(random() * end);
  const hard = "\r\t\u0001\u0010\u001f\u0085\u2028\ufffe\uffff +%&<>'\"";
  const anyCharacter = (): string => {
    const code = 1 + below(0x10ffff);
    const character = code >= 0xd800 && code <= 0xdfff ? "x" : String.fromCodePoint(code);
    // moto takes no LF in a path; dots and slashes make other paths.
    return /[\n./]/.test(character) ? "y" : character;
  };
  const keys = new Set<string>();
  while (keys.size < count) {
    const letters = Array.from({ length: 1 + below(12) }, anyCharacter);
    if (random() < 0.2) letters[below(letters.length)] = hard.charAt(below(hard.length));
    keys.add(`${letters.join("")}${keys.size}`);
  }
  return [...keys];
}
