import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** All Lua files of the repository, relative to its root. */
export const luaPaths = (): readonly string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "*.lua"], {
    cwd: root,
  })
    .toString()
    .split("\n")
    .filter((path) => path !== "");
