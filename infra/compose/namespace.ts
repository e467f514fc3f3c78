import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FailedRunError, run } from "./run.ts";

/**
 * Readies the namespaces that we are in for podman, which keeps everything in `dir`.
 *
 * @returns the environment for buildah and podman.
 */
export async function setUpNamespace(dir: string): Promise<Readonly<Record<string, string>>> {
  // A cgroup v2 beside the v1 hierarchies confuses crun; without it, no limits are applied.
  await run(["umount", "--lazy", "/sys/fs/cgroup/unified"]).catch(ignoreFailure);
  await run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"]);
  await mkdir("/run/lock", { recursive: true });
  await run(["ip", "link", "set", "lo", "up"]);
  return configureContainers(dir);
}

/**
 * Has buildah and podman keep everything in `dir`, in a mount namespace that is not the system's.
 *
 * @returns the environment for them.
 */
export async function configureContainers(dir: string): Promise<Readonly<Record<string, string>>> {
  await mkdir(join(dir, "networks"), { recursive: true });
  const driver = (await canOverlay(dir)) ? "overlay" : "vfs";
  const storage = join(dir, "storage.conf");
  const containers = join(dir, "containers.conf");
  await writeFile(storage, storageConf(dir, driver));
  await writeFile(containers, containersConf(dir));
  return {
    CONTAINERS_STORAGE_CONF: storage,
    CONTAINERS_CONF: containers,
    // As podman calls buildah when compose builds; in containers of their own, builds would need cgroups.
    BUILDAH_ISOLATION: "chroot",
    BUILDAH_FORMAT: "docker",
  };
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof FailedRunError)) throw error;
}

/** Overlays share what images have in common; the fallback copies it for each container. */
async function canOverlay(dir: string): Promise<boolean> {
  const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) =>
    join(dir, "overlay-probe", name),
  );
  for (const folder of [lower, upper, work, merged]) if (folder) await mkdir(folder, { recursive: true });
  try {
    const options = `lowerdir=${String(lower)},upperdir=${String(upper)},workdir=${String(work)}`;
    await run(["mount", "-t", "overlay", "overlay", "-o", options, String(merged)]);
    await run(["umount", String(merged)]);
    return true;
  } catch (error) {
    ignoreFailure(error);
    return false;
  }
}

const storageConf = (dir: string, driver: string): string => `[storage]
driver = "${driver}"
graphroot = "${dir}/storage"
runroot = "/run/containers/storage"
`;

const containersConf = (dir: string): string => `[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "crun"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "${dir}/networks"
`;
