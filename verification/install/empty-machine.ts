import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { root } from "../harness/repository-files.ts";

/** The result of a command. */
export interface Ended {
  readonly code: number;
  readonly output: string;
}

/**
 * A folder with a Node and nothing else, in which commands run as on a machine without this repository: a mount namespace covers
 * the repository with an empty folder, the home folder and npm's cache are new, and of the environment only PATH is left. A
 * command that reads a file of the repository therefore fails.
 *
 * @param registry the URL of npm's registry.
 * @param more variables.
 */
export async function openEmptyMachine(registry: string, more: Readonly<Record<string, string>> = {}) {
  // A path with a space, as users have.
  const path = mkdtempSync(join(tmpdir(), "drover install "));
  for (const folder of ["bin", "home", "projects"]) mkdirSync(join(path, folder));
  copyFileSync(process.execPath, join(path, "bin/node"));
  const { PATH = "" } = process.env;
  const system = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const env = {
    PATH: [join(path, "bin"), ...system].join(delimiter),
    HOME: join(path, "home"),
    npm_config_registry: registry,
    npm_config_cache: join(path, "cache"),
    // The tarballs of others come from there, too.
    npm_config_replace_registry_host: "always",
    npm_config_update_notifier: "false",
    npm_config_fetch_retries: "0",
    CI: "true",
    ...more,
  };
  const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const hidden = [...asRoot, "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', root];
  const run = (words: readonly string[], folder = "projects"): Promise<Ended> =>
    new Promise((resolve, reject) => {
      const where = { cwd: join(path, folder), env, maxBuffer: Infinity };
      execFile("unshare", [...hidden, ...words], where, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === "number") resolve({ code, output: stdout + stderr });
        else reject(error ?? new Error("No exit code."));
      });
    });
  const close = () => rmSync(path, { recursive: true, force: true });
  const probe = await run(["ls", "-A", root]);
  if (probe.code !== 0 || probe.output !== "") {
    close();
    throw new Error(
      `The repository cannot be hidden from commands: ${probe.output || "it is still there."} Mount namespaces are needed: run this as root, or allow them to users (sysctl kernel.apparmor_restrict_unprivileged_userns=0).`,
    );
  }
  return { path, run, close };
}
export type EmptyMachine = Awaited<ReturnType<typeof openEmptyMachine>>;
