import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The root of the repository. */
export const root = new URL("../..", import.meta.url).pathname;

/**
 * The files of the repository, relative to its root: those that git tracks, and new ones that it does not ignore.
 *
 * @param patterns of git, such as `*.lua`. Without any: all files.
 */
export const repositoryFiles = (...patterns: readonly string[]): readonly string[] =>
  execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ...patterns],
    { cwd: root },
  )
    .toString()
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(root, path)));
