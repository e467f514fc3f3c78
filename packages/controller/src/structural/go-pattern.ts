import { RE2JS } from "re2js";

/**
 * Why a pattern does not mean the same in the API server as in JavaScript; undefined if it does.
 *
 * The API server compiles patterns with Go's regexp, which is RE2. RE2JS, a port of RE2, refuses patterns that do not
 * compile there; `meaningProblem` refuses patterns that mean something else there. Differences that only affect unusual
 * characters (`\s` and `.` at Unicode blanks and line ends, two units for an emoji) are accepted: the runtime matches
 * with RE2JS, too.
 */
export function goPatternProblem({ source, flags }: RegExp): string | undefined {
  const flag = /[imsvy]/.exec(flags)?.[0];
  if (flag !== undefined)
    return `the flag "${flag}" has no place in a CRD; spell it out, such as [Aa] for "i"`;
  return meaningProblem(source, flags.includes("u")) ?? compileProblem(source);
}

/** An escape, with the end that JavaScript gives it. */
const escape = /\\(?:[pP]\{\w*\}|x[0-9A-Fa-f]{2}|[^])/;
/** An escape, a class, a repetition, or any one character. */
const parts = new RegExp(
  `(?<escape>${escape.source})|\\[\\^?(?<inside>(?:${escape.source}|[^\\\\\\]])*)\\]|(?<repeat>\\{\\d+,?\\d*\\})|[^]`,
  "g",
);
const sameMeaning = /^\\(?:x[0-9A-Fa-f]{2}|[dDwWsStnrfv0]|[!-/:-@[-`{-~])$/;
/** Go also accepts longer names, but the set of them depends on its version. */
const category = /^\\[pP]\{(?:L|M|N|P|S|Z|C)[a-z]?\}$/;

function meaningProblem(source: string, unicode: boolean): string | undefined {
  const escapeProblem = (text: string): string | undefined => {
    if (sameMeaning.test(text) || (unicode && category.test(text))) return undefined;
    return /^\\[1-9k]/.test(text)
      ? "Go's RE2 has no back-references; write the pattern without them"
      : `Go's RE2 reads the escape "${text.slice(0, 2)}" differently; write the characters themselves`;
  };
  for (const { groups } of source.matchAll(parts)) {
    const { escape: outside, inside, repeat } = groups ?? {};
    const escapes = outside === undefined ? (inside?.match(new RegExp(escape, "g")) ?? []) : [outside];
    const problem = escapes
      .filter((text) => inside !== undefined || !/^\\[bB]$/.test(text))
      .map(escapeProblem)
      .find((found) => found !== undefined);
    if (problem !== undefined) return problem;
    if (inside === "") return "Go's RE2 accepts no empty class; list the characters";
    if (inside?.includes("[:")) return 'Go\'s RE2 reads "[:" as a named class; write "\\[:"';
    if (/[{,]0\d/.test(repeat ?? ""))
      return `Go's RE2 reads "${repeat}" as text; write it without a leading 0`;
  }
  return undefined;
}

function compileProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (/`\(\?<?[=!]/.test(message))
      return "Go's RE2 has no look-ahead or look-behind; write several patterns or a cel rule";
    if (/repeat count|too large/.test(message))
      return "Go's RE2 repeats at most 1000 times, nested repetitions multiplied; use .max() for lengths";
    if (/escape sequence: `\\[dDwWsSpP]/.test(message))
      return 'Go\'s RE2 reads a range where "-" stands before a class; put the "-" last';
    return `Go's RE2 does not read it: ${message}`;
  }
}
