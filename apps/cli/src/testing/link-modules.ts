import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { repositoryPath } from "../repository-path.ts";

/** What `npm install` makes of links to the repository, without the network. */
export function linkModules(folder: string): void {
  const from = repositoryPath("node_modules");
  const to = join(folder, "node_modules");
  mkdirSync(join(to, ".bin"), { recursive: true });
  for (const name of readdirSync(from)) {
    if (!name.startsWith(".")) symlinkSync(join(from, name), join(to, name));
  }
  for (const name of ["vitest", "tsc", "esbuild", "node"]) {
    symlinkSync(join(from, ".bin", name), join(to, ".bin", name));
  }
  symlinkSync(repositoryPath("apps/cli/bin/drover.mjs"), join(to, ".bin/drover"));
}
