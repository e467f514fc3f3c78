import { readFile } from "node:fs/promises";

/** The end of a log. */
export const lastLinesOf = async (file: string): Promise<string> =>
  (await readFile(file, "utf8").catch(() => "")).trimEnd().split("\n").slice(-20).join("\n");
