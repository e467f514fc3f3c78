import { ensurePrograms, ensurePythonTool } from "@drover/local-servers";
import { resolve } from "node:path";
import { z } from "zod";

/** The programs to build images, each with its Debian package. */
const builders: Readonly<Record<string, string>> = {
  buildah: "buildah",
  crun: "crun",
  netavark: "netavark",
};
/** And to run containers, without Docker. */
const programs: Readonly<Record<string, string>> = {
  ...builders,
  podman: "podman",
  "aardvark-dns": "aardvark-dns",
  iptables: "iptables",
  newuidmap: "uidmap",
  ip: "iproute2",
  unshare: "util-linux",
};
/** The folders of Podman's helpers, which are not on PATH. */
const podmanFolders = ["/usr/lib/podman", "/usr/libexec/podman", "/usr/local/libexec/podman"];

/** Makes sure that images can be built, as `ensureTools` does. */
export const ensureBuilders = (): Promise<void> => ensurePrograms(builders, { folders: podmanFolders });

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
  await ensurePrograms(programs, { folders: podmanFolders });
  return podmanCompose();
}

async function podmanCompose(): Promise<ComposeCommand> {
  const packages = await ensurePythonTool({
    name: "podman-compose",
    requirements: resolve(import.meta.dirname, "podman-compose.txt"),
    runsInPython: true,
  });
  return { command: ["python3", "-m", "podman_compose"], env: { PYTHONPATH: packages } };
}
