import { readFileSync } from "node:fs";

/** Memory of one process, bytes, by the kernel. */
export interface Memory {
  readonly rss: number;
  /** Pages that several processes map (a program that runs twice) are shared out among them. */
  readonly pss: number;
}

const nothing: Memory = { rss: 0, pss: 0 };

/** All zero when the process is gone. */
export function memoryOf(pid: number): Memory {
  const text = read(pid, "smaps_rollup");
  return text === undefined ? nothing : { rss: kilobytes(text, "Rss"), pss: kilobytes(text, "Pss") };
}

/** The most that was resident at any moment since the start. */
export const highestRss = (pid: number): number => {
  const text = read(pid, "status");
  return text === undefined ? 0 : kilobytes(text, "VmHWM");
};

/** The name of the program that it runs: the kernel keeps 15 characters of it. Empty when it is gone. */
export const programOf = (pid: number): string => read(pid, "comm")?.trim() ?? "";

/** User and system time so far, all threads, s. */
export function cpuOf(pid: number): number {
  const text = read(pid, "stat");
  if (text === undefined) return 0;
  // After the name, which may hold anything and ends with the last parenthesis: state is field 3.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The time that each of these processes takes from now on; all of one that is not among them. */
export function cpuSince(pids: readonly number[]): (pid: number) => number {
  const before = new Map(pids.map((pid) => [pid, cpuOf(pid)]));
  return (pid) => cpuOf(pid) - (before.get(pid) ?? 0);
}

/** USER_HZ: 100 on Linux, whatever the kernel's own tick is. */
const ticksPerSecond = 100;

const kilobytes = (text: string, name: string): number =>
  1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
