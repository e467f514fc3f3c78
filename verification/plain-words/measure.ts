/** The text of a file that people read, in parts. */
export interface Prose {
  readonly path: string;
  readonly parts: readonly string[];
}

export interface Measure {
  readonly name: string;
  /** Global: what is counted in each part. */
  readonly pattern: RegExp;
  readonly per: "1,000 words" | "100 parts";
}

export interface Count {
  readonly share: number;
  /** The five files that have the most. */
  readonly most: readonly { readonly path: string; readonly count: number }[];
}

export function countIn(files: readonly Prose[], { pattern, per }: Measure): Count {
  const counts = files.map(({ path, parts }) => ({ path, count: matchesIn(parts, pattern) }));
  const parts = files.flatMap((file) => file.parts);
  const size = per === "100 parts" ? parts.length / 100 : matchesIn(parts, /[A-Za-z']+/g) / 1_000;
  return {
    share: size === 0 ? 0 : sum(counts.map(({ count }) => count)) / size,
    most: counts.toSorted((a, b) => b.count - a.count).slice(0, 5),
  };
}

const matchesIn = (parts: readonly string[], pattern: RegExp): number =>
  sum(parts.map((part) => part.match(pattern)?.length ?? 0));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The comments of TypeScript, and of Lua in it. Lines of `//` or `--` that follow each other are one comment. */
export function commentsOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/\/\*\*?([\s\S]*?)\*\//g)].map(([, block = ""]) =>
    block.replace(/^\s*\*\s?/gm, " "),
  );
  const lines: string[] = [];
  let isGoingOn = false;
  for (const line of text.split("\n")) {
    const comment = /^\s*(?:\/\/[/!]?|--)(.*)$/.exec(line)?.[1];
    if (comment !== undefined) lines.push(isGoingOn ? `${lines.pop() ?? ""} ${comment}` : comment);
    isGoingOn = comment !== undefined;
  }
  return [...blocks, ...lines]
    .map((comment) => comment.trim())
    .filter((comment) => comment !== "" && !/^(eslint|@ts|Copyright|SPDX)/.test(comment));
}

/** Markdown without its blocks of code. */
export const proseOf = (markdown: string): string => markdown.replace(/```[\s\S]*?```/g, "");
