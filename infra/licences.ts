import type { Metafile } from "esbuild";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const manifest = z.object({ name: z.string(), version: z.string(), license: z.string().optional() });

/** The licences of all packages that a bundle contains, as one text: most ask to be shipped with what they cover. */
export async function licencesOf({ outputs }: Metafile, root: string): Promise<string> {
  const contained = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const folders = new Set(contained.flatMap((file) => packageFolder.exec(file)?.[0] ?? []));
  const texts = await Promise.all([...folders].sort().map((folder) => licenceIn(join(root, folder))));
  return texts.join("\n\n----\n\n");
}

/** `.../node_modules/name` or `.../node_modules/@scope/name`, the innermost. */
const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

async function licenceIn(folder: string): Promise<string> {
  const { name, version, license } = manifest.parse(
    JSON.parse(await readFile(join(folder, "package.json"), "utf8")),
  );
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return [`${name} ${version} (${license ?? "see below"})`, ...texts.map((text) => text.trim())].join("\n\n");
}
