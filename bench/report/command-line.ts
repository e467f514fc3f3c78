import { cpus, type } from "node:os";
import { machineLoad } from "./machine-load.ts";

/** The command as it was given, such as `npm run bench:queue -- --quick`. */
export const commandLine = (script: string): string =>
  [`npm run ${script}`, ...(process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : [])].join(" ");

/**
 * A test for the names that a comma-separated list has; without a list it has all. A comma in a name has a space behind it.
 * An unknown name ends the process.
 */
export function chosen<Name extends string>(list: string | undefined, all: readonly Name[]) {
  const only = list?.split(/,(?! )/);
  const unknown = only?.filter((word) => !all.some((name) => name === word)) ?? [];
  if (unknown.length > 0) {
    console.error(`There is no ${unknown.join(", ")}. There are: ${all.join(", ")}.`);
    process.exit(2);
  }
  return (name: Name): boolean => only?.includes(name) ?? true;
}

/** Prints lines with the seconds since the start. */
export function progressSince(began = performance.now()): (line: string) => void {
  return (line) => console.error(`${((performance.now() - began) / 1_000).toFixed(0)} s: ${line}`);
}

/** The machine of a bench. */
export interface Circumstances {
  readonly command: string;
  /** Such as `2 cores, Linux`. */
  readonly machine: string;
  readonly node: string;
  /** How busy the machine was before and after, in [0, 1]. */
  readonly busy: readonly number[];
}

/** Starts to note them; the returned function ends that. */
export async function circumstances(script: string): Promise<() => Promise<Circumstances>> {
  const before = await machineLoad();
  return async () => ({
    command: commandLine(script),
    machine: `${cpus().length} cores, ${type()}`,
    node: process.version,
    busy: [before, await machineLoad()],
  });
}

/** The shares of a busy machine, as a sentence has them. */
export const percents = (shares: readonly number[], between: string): string =>
  shares.map((share) => `${(100 * share).toFixed(0)} %`).join(between);
