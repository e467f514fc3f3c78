import { cachedFolder, runTied, type TiedProcessOptions } from "@drover/local-servers";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Where built programs are kept. */
export const cacheFolder = join(import.meta.dirname, "../../../.cache");

export interface Build extends Omit<TiedProcessOptions, "name"> {
  /** The programs and servers that the tool needs, for the error. */
  readonly needs: string;
}

/** Runs a build tool. Rejects with its last lines of output, and its requirements. */
export async function built({ needs, ...tool }: Build): Promise<void> {
  await runTied({ ...tool, name: tool.command }).catch((cause: unknown) => {
    throw new Error(`It needs ${needs}. ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
}

/** The folder that `build` makes of the files of another one; it is made again when they have changed. */
export async function builtFrom(
  sources: string,
  name: string,
  build: (temporary: string, files: readonly string[]) => Promise<string>,
): Promise<string> {
  const files = (await readdir(sources)).sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(await readFile(join(sources, file)));
  return cachedFolder(join(cacheFolder, name), hash.digest("hex").slice(0, 16), (temporary) =>
    build(temporary, files),
  );
}
