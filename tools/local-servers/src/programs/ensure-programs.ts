import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

export interface EnsureProgramsOptions {
  /** Folders beside PATH where a program may be. */
  readonly folders?: readonly string[];
  /** Gets a line when something is installed. */
  readonly log?: (line: string) => void;
}

/**
 * Sees to it that programs are on this system: `{ ip: "iproute2" }` is a program and Debian's package that brings it.
 * What is missing is installed with apt-get, which takes root.
 *
 * Rejects with the packages to install when it cannot do that itself.
 */
export async function ensurePrograms(
  programs: Readonly<Record<string, string>>,
  { folders = [], log = console.log }: EnsureProgramsOptions = {},
): Promise<void> {
  const missing = await missingPackages(programs, folders);
  if (missing.length === 0) return;
  const names = missing.join(", ");
  if (!(await isThere("apt-get", [])))
    throw new Error(`Install ${names} first: there is no apt-get here to do it with.`);
  if (process.getuid?.() !== 0)
    throw new Error(`Run this as root, or install first: apt-get install ${missing.join(" ")}`);
  log(`Installing ${names}`);
  await aptGet("update", "-qq");
  await aptGet("install", "-qq", "--yes", "--no-install-recommends", ...missing);
  const still = await missingPackages(programs, folders);
  if (still.length > 0) throw new Error(`Not there even after installing: ${still.join(", ")}.`);
}

async function missingPackages(
  programs: Readonly<Record<string, string>>,
  folders: readonly string[],
): Promise<readonly string[]> {
  const found = await Promise.all(
    Object.entries(programs).map(async ([program, name]) =>
      (await isThere(program, folders)) ? [] : [name],
    ),
  );
  return [...new Set(found.flat())];
}

async function isThere(program: string, folders: readonly string[]): Promise<boolean> {
  const onPath = (process.env["PATH"] ?? "").split(":").filter(Boolean);
  const tries = [...onPath, ...folders].map((folder) => access(join(folder, program), constants.X_OK));
  return Promise.any(tries).then(
    () => true,
    () => false,
  );
}

// Not tied to this process: a dpkg that is killed half-way leaves the system's packages in need of repair.
const aptGet = (...args: readonly string[]) =>
  promisify(execFile)("apt-get", args, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    maxBuffer: 2 ** 26,
  });
