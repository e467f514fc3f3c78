import { readdir, readFile } from "node:fs/promises";
import type { Checks } from "./checks.ts";
import type { Project } from "./containers.ts";

/** Takes the project down and looks for what is left. After a failure, the end of the namespaces does that. */
export async function takeDown({ check }: Checks, project: Project): Promise<void> {
  await check("down leaves no container, volume, network, mount or process", async () => {
    await project.compose("down", "--volumes");
    const left = {
      containers: (await project.containers()).map(({ name }) => name),
      volumes: lines(await project.podman("volume", "ls", "--quiet")),
      networks: lines(await project.podman("network", "ls", "--format", "{{.Name}}")).filter(
        (name) => name !== "podman",
      ),
      mounts: lines(await readFile("/proc/self/mounts", "utf8")).filter(isOfContainer),
      processes: await otherProcesses(),
    };
    if (Object.values(left).some((found) => found.length > 0))
      throw new Error(`Left: ${JSON.stringify(left)}`);
  });
}

const lines = (text: string): readonly string[] => text.split("\n").filter(Boolean);

/** A container's root file system, shared memory or network namespace. */
const isOfContainer = (mount: string): boolean =>
  /\/merged |\/shm-|containers\/[^ ]*\/shm |\/netns-/.test(mount);

/** Everything that runs in our process namespace, but for its first process and us. */
async function otherProcesses(): Promise<readonly string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const others = ids.map(Number).filter((pid) => pid !== 1 && pid !== process.pid);
  return Promise.all(others.map((pid) => readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")));
}
