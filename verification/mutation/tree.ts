import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readlink, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A copy of the repository's last commit, to be changed at will; its packages import each other's copies. */
export interface Tree extends AsyncDisposable {
  readonly root: string;
  /** Where what runs in the tree puts its temporary files: they go with it. */
  readonly temporary: string;
}

/**
 * A clone in a temporary folder. Packages of others are the repository's, and so is `.cache`; the links of
 * `node_modules/@drover` are relative, and lead to the clone's own folders.
 */
export async function makeTree(repository: string): Promise<Tree> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "drover-mutation-")));
  const root = join(folder, "tree");
  const temporary = join(folder, "tmp");
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    execFileSync("git", ["clone", "--quiet", "--shared", repository, root]);
    await mkdir(temporary);
    await symlink(await realpath(join(repository, ".cache")), join(root, ".cache"));
    await linkPackages(join(repository, "node_modules"), join(root, "node_modules"));
  } catch (error) {
    await remove();
    throw error;
  }
  return { root, temporary, [Symbol.asyncDispose]: remove };
}

/** The tree has its own vitest caches, because their entries hold paths. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(join(to, "@drover"), { recursive: true });
  for (const name of await readdir(from))
    if (!/^(@drover$|\.vite)/.test(name)) await symlink(join(from, name), join(to, name));
  for (const name of await readdir(join(from, "@drover")))
    await symlink(await readlink(join(from, "@drover", name)), join(to, "@drover", name));
}
