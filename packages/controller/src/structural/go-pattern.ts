/** Longest repetition that Go compiles, nested ones multiplied (`regexp/syntax`, repeatIsValid). */
const mostRepeats = 1000;

/**
 * What keeps a pattern from meaning in the API server what it means here; undefined where nothing does.
 *
 * The API server compiles patterns with Go's regexp, which is RE2: no look-around, no back-references, no flags beside
 * the pattern, and a few escapes that mean something else. Differences that only make the server stricter or laxer by
 * odd characters (`\s` and `.` at Unicode blanks and line ends, two units for an emoji) are let through: the runtime parses with zod as well.
 */
export function goPatternProblem({ source, flags }: RegExp): string | undefined {
  const flag = /[imsvy]/.exec(flags)?.[0];
  if (flag !== undefined)
    return `the flag "${flag}" has no place in a CRD; spell it out, such as [Aa] for "i"`;
  const scan: Scan = { source, unicode: flags.includes("u"), at: 0, groups: [1], last: 1 };
  while (scan.at < source.length) {
    const problem = step(scan);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

interface Scan {
  readonly source: string;
  readonly unicode: boolean;
  at: number;
  /** The largest repetition inside each open group. */
  readonly groups: number[];
  /** The repetition inside the atom just read, which a quantifier after it multiplies. */
  last: number;
}

function step(scan: Scan): string | undefined {
  switch (scan.source.charAt(scan.at)) {
    case "\\":
      return escape(scan, false);
    case "[":
      return characterClass(scan);
    case "(":
      return openGroup(scan);
    case ")":
      closeGroup(scan);
      return undefined;
    case "{":
      return repeat(scan);
    default:
      scan.at += 1;
      scan.last = 1;
      return undefined;
  }
}

function escape(scan: Scan, inClass: boolean): string | undefined {
  scan.last = 1;
  const rest = scan.source.slice(scan.at + 1);
  const category = /^[pP]\{(?:L|M|N|P|S|Z|C)[a-z]?\}/.exec(rest)?.[0];
  const known = /^(?:x[0-9A-Fa-f]{2}|[dDwWsStnrfv]|0(?!\d))/.exec(rest)?.[0];
  const found = (scan.unicode ? category : undefined) ?? known ?? /^[!-/:-@[-`{-~]/.exec(rest)?.[0];
  if (found !== undefined) {
    scan.at += 1 + found.length;
    return undefined;
  }
  if (!inClass && /^[bB]/.test(rest)) {
    scan.at += 2;
    return undefined;
  }
  if (/^(?:[1-9]|k)/.test(rest)) return "Go's RE2 knows no back-references; write the pattern without them";
  return `Go's RE2 reads the escape "\\${rest.slice(0, 1)}" otherwise; write the characters themselves`;
}

function characterClass(scan: Scan): string | undefined {
  scan.at += scan.source[scan.at + 1] === "^" ? 2 : 1;
  if (scan.source[scan.at] === "]") return "Go's RE2 takes no empty class; name the characters";
  const start = scan.at;
  while (scan.source[scan.at] !== "]") {
    if (scan.at > start && /^-\\[dDwWsSpP]/.test(scan.source.slice(scan.at))) {
      return 'Go\'s RE2 reads a range where "-" stands before a class; put the "-" last';
    }
    if (scan.source.startsWith("[:", scan.at)) return 'Go\'s RE2 reads "[:" as a named class; write "\\[:"';
    if (scan.source[scan.at] === "\\") {
      const problem = escape(scan, true);
      if (problem !== undefined) return problem;
    } else scan.at += 1;
  }
  scan.at += 1;
  scan.last = 1;
  return undefined;
}

function openGroup(scan: Scan): string | undefined {
  const rest = scan.source.slice(scan.at);
  if (/^\(\?<?[=!]/.test(rest)) {
    return "Go's RE2 knows no look-ahead or look-behind; write several patterns or a cel rule";
  }
  scan.at += /^\(\?(?:[ims-]*:|<\w+>)/.exec(rest)?.[0].length ?? 1;
  scan.groups.push(1);
  return undefined;
}

function closeGroup(scan: Scan): void {
  const inside = scan.groups.pop() ?? 1;
  scan.at += 1;
  remember(scan, inside);
}

function repeat(scan: Scan): string | undefined {
  const [text, from, comma, to] = /^\{(\d+)(,?)(\d*)\}/.exec(scan.source.slice(scan.at)) ?? ["{"];
  scan.at += text.length;
  if (from === undefined) return undefined;
  const times = Number(comma === "," && to !== "" ? to : from);
  remember(scan, scan.last * Math.max(times, 1));
  return scan.last > mostRepeats
    ? `Go's RE2 repeats at most ${mostRepeats} times, nested repetitions multiplied; use .max() for lengths`
    : undefined;
}

function remember(scan: Scan, repeats: number): void {
  scan.last = repeats;
  const open = scan.groups.length - 1;
  scan.groups[open] = Math.max(scan.groups[open] ?? 1, repeats);
}
