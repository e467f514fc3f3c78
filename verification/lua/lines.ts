import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/repository-files.ts";

/** A line of a script, and its place in a file, unless it was made by the assembler. */
export interface LuaLine {
  readonly text: string;
  /** Relative to the root of the repository. */
  readonly file?: string;
  /** In the file, from 1. */
  readonly line?: number;
}

/** The folders to which the paths of Lua files are relative. */
const sources = ["packages/queue/src", "packages/bridge/src"];

/** The lines of a script. The assembler writes the path of a file in front of its text. */
export function linesOf(lua: string): readonly LuaLine[] {
  const lines: LuaLine[] = lua.split("\n").map((text) => ({ text }));
  for (const [i, { text }] of lines.entries()) {
    const [, path] = /^-- ([\w/-]+\.lua)$/.exec(text) ?? [];
    if (path === undefined) continue;
    const file = sources.map((source) => `${source}/${path}`).find((each) => existsSync(join(root, each)));
    if (file === undefined) throw new Error(`A script contains ${path}, but no package has it.`);
    const inFile = readFileSync(join(root, file), "utf8").trimEnd().split("\n");
    for (const [n, own] of inFile.entries()) lines[i + 1 + n] = { text: own, file, line: n + 1 };
  }
  return lines;
}

/** The files that a script contains. */
export const filesIn = (lines: readonly LuaLine[]): readonly string[] => [
  ...new Set(lines.flatMap(({ file }) => file ?? [])),
];
