import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { buildPackage } from "../../../../infra/build-package.ts";
import { repositoryPath } from "../package/repository-path.ts";

/**
 * Makes `node_modules` as `npm install` does, but without the network: the built package without its declarations, and links to
 * its dependencies.
 */
export async function linkModules(folder: string): Promise<void> {
  const from = repositoryPath("node_modules");
  const to = join(folder, "node_modules");
  mkdirSync(join(to, ".bin"), { recursive: true });
  for (const name of readdirSync(from)) {
    if (!name.startsWith(".") && name !== "drover") symlinkSync(join(from, name), join(to, name));
  }
  for (const name of ["vitest", "tsc", "esbuild", "node"]) {
    symlinkSync(join(from, ".bin", name), join(to, ".bin", name));
  }
  await buildPackage({ folder: join(to, "drover"), declarations: false });
  symlinkSync("../drover/lib/command.js", join(to, ".bin/drover"));
}
