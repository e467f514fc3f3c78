import type { Metafile } from "esbuild";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const manifest = z.object({ name: z.string(), version: z.string(), license: z.string().optional() });

/** A package of npm of which a bundle contains code. */
export interface ContainedPackage extends z.output<typeof manifest> {
  /** Relative to the root of the repository. */
  readonly folder: string;
}

/** `.../node_modules/name` or `.../node_modules/@scope/name`, the innermost. */
const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

/** The packages of others in a bundle, in the order of their folders. */
export async function containedPackages(
  { outputs }: Pick<Metafile, "outputs">,
  root: string,
): Promise<readonly ContainedPackage[]> {
  const contained = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const folders = new Set(contained.flatMap((file) => packageFolder.exec(file)?.[0] ?? []));
  return Promise.all(
    [...folders].sort().map(async (folder) => {
      const text = await readFile(join(root, folder, "package.json"), "utf8");
      return { folder, ...manifest.parse(JSON.parse(text)) };
    }),
  );
}
