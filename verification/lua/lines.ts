import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lua-paths.ts";

/** A line of a script, and its place in a file, unless it was made by the assembler. */
export interface LuaLine {
  readonly text: string;
  /** Relative to the root of the repository. */
  readonly file?: string;
  /** In the file, from 1. */
  readonly line?: number;
}

/**
 * The lines of a script. The assembler writes the path of a file in front of its text.
 *
 * @param source the folder to which these paths are relative.
 */
export function linesOf(lua: string, source: string): readonly LuaLine[] {
  const lines: LuaLine[] = lua.split("\n").map((text) => ({ text }));
  for (const [i, { text }] of lines.entries()) {
    const [, path] = /^-- ([\w/-]+\.lua)$/.exec(text) ?? [];
    if (path === undefined) continue;
    const file = `${source}/${path}`;
    const inFile = readFileSync(join(root, file), "utf8").trimEnd().split("\n");
    for (const [n, own] of inFile.entries()) lines[i + 1 + n] = { text: own, file, line: n + 1 };
  }
  return lines;
}

/** The files that a script contains. */
export const filesIn = (lines: readonly LuaLine[]): readonly string[] => [
  ...new Set(lines.flatMap(({ file }) => file ?? [])),
];
