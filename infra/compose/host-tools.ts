import { ensurePythonTool } from "@drover/local-servers";
import { access, constants } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { searchPath } from "./config.ts";
import { run } from "./run.ts";

/** What containers need here, without Docker: each program, and Debian's package that brings it. */
const programs: Readonly<Record<string, string>> = {
  buildah: "buildah",
  podman: "podman",
  crun: "crun",
  netavark: "netavark",
  "aardvark-dns": "aardvark-dns",
  iptables: "iptables",
  newuidmap: "uidmap",
  ip: "iproute2",
  unshare: "util-linux",
};
/** Podman's own helpers are on nobody's PATH. */
const podmanFolders = ["/usr/lib/podman", "/usr/libexec/podman", "/usr/local/libexec/podman"];

/** How to call podman-compose: `env` with `command`. */
export const composeCommand = z.object({
  command: z.tuple([z.string()], z.string()),
  env: z.record(z.string(), z.string()),
});
export type ComposeCommand = z.output<typeof composeCommand>;

/**
 * Makes sure that containers can be built and run. What is missing is installed with apt-get, as root on Debian or
 * Ubuntu; podman-compose comes with pip into the checkout's cache.
 *
 * Rejects with what to install when it cannot.
 */
export async function ensureTools(): Promise<ComposeCommand> {
  if (process.platform !== "linux") throw new Error("Containers without Docker need Linux.");
  if (process.getuid?.() !== 0)
    throw new Error(
      "This makes namespaces, mounts and networks of its own, so run it as root: sudo -E npm run test:compose",
    );
  const missing = await missingPackages();
  if (missing.length > 0) await installPackages(missing);
  const still = await missingPackages();
  if (still.length > 0) throw new Error(`Not there even after installing: ${still.join(", ")}.`);
  return podmanCompose();
}

async function missingPackages(): Promise<readonly string[]> {
  const found = await Promise.all(
    Object.entries(programs).map(async ([program, name]) => ((await isThere(program)) ? [] : [name])),
  );
  return found.flat();
}

async function isThere(program: string): Promise<boolean> {
  const tries = [...searchPath(), ...podmanFolders].map((folder) =>
    access(join(folder, program), constants.X_OK),
  );
  return Promise.any(tries).then(
    () => true,
    () => false,
  );
}

async function installPackages(names: readonly string[]): Promise<void> {
  if (!(await isThere("apt-get")))
    throw new Error(`Install ${names.join(", ")} first: there is no apt-get here to do it with.`);
  console.log(`Installing ${names.join(", ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await run(["apt-get", "update", "-qq"], { env });
  await run(["apt-get", "install", "-qq", "--yes", "--no-install-recommends", ...names], { env });
}

async function podmanCompose(): Promise<ComposeCommand> {
  const packages = await ensurePythonTool({
    name: "podman-compose",
    requirements: resolve(import.meta.dirname, "podman-compose.txt"),
    runsInPython: true,
  });
  return { command: ["python3", "-m", "podman_compose"], env: { PYTHONPATH: packages } };
}
