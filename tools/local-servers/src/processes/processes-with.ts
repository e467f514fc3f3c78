import { readdir, readFile } from "node:fs/promises";

/** The commands with a text in them of all processes on Linux that this one sees, without its own. */
export async function processesWith(text: string): Promise<readonly string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const commands = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")),
  );
  return commands.filter((command) => command.includes(text));
}
