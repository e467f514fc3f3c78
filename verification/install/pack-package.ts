import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { buildPackage } from "../../infra/build-package.ts";
import { root } from "../harness/repository-files.ts";

const manifestSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string(), default: z.string() })])),
});
const packedSchema = z.tuple([z.object({ filename: z.string() })]);

/** Builds the package `drover`, and packs it in `dist`. */
export async function packPackage() {
  const folder = await buildPackage();
  const packs = join(root, "dist");
  const [{ filename }] = packedSchema.parse(
    JSON.parse(npm("pack", folder, "--json", `--pack-destination=${packs}`)),
  );
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  return { folder, manifest, tarball: join(packs, filename) };
}

/** Runs `npm WORDS` in the repository. */
export function npm(...words: readonly string[]): string {
  return execFileSync("npm", words, { cwd: root, stdio: ["ignore", "pipe", "inherit"] }).toString();
}
