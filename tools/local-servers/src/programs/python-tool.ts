import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { cachedFolder } from "./cached-folder.ts";
import { ProgramError, runTied } from "../processes/run-tied.ts";
import { isAbsent } from "./run-go.ts";

const run = promisify(execFile);

/** A set of Python packages that is installed beside the checkout, never into the system. */
export interface PythonTool {
  /** Its name in messages, and a part of its folder's name. */
  name: string;
  /** A requirements file that pins every package, also those that others need, each with the hashes of its files. */
  requirements: string;
  /**
   * False when only files are taken out of the packages (a server binary): then any Python that has pip will do, and
   * another Python later uses the same folder.
   */
  runsInPython: boolean;
}

export interface PythonToolOptions {
  /** Where tools are kept. Default: `.cache/python` in the root of the checkout. */
  cacheDir?: string;
  /** Where python3 is looked for. Default: `PATH`. */
  path?: string | undefined;
  signal?: AbortSignal | undefined;
}

const CACHE = resolve(import.meta.dirname, "../../../../.cache/python");

// Settings of the user that would send the packages elsewhere, stop pip to ask something, or hide the reason of a
// failure among warnings. An older pip ignores those that it does not know.
const PIP_ENVIRONMENT = {
  PIP_USER: "0",
  PIP_REQUIRE_VIRTUALENV: "0",
  PIP_BREAK_SYSTEM_PACKAGES: "1",
  PIP_NO_INPUT: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_ROOT_USER_ACTION: "ignore",
};

/**
 * The folder that holds a tool's packages (for `PYTHONPATH`, or to take files from), installed with pip when it is
 * not there yet. The folder's name follows from the pins, so a change of pins is a new folder.
 *
 * Any number of processes may do this at once.
 *
 * Rejects with what to install when python3 or pip is missing, and with the end of pip's output when it fails.
 */
export async function ensurePythonTool(tool: PythonTool, options: PythonToolOptions = {}): Promise<string> {
  const { cacheDir = CACHE, signal } = options;
  signal?.throwIfAborted();
  const path = options.path ?? process.env["PATH"];
  return cachedFolder(cacheDir, `${tool.name}-${await fingerprint(tool, path)}`, async (temporary) => {
    await install(tool, temporary, path, signal);
    return join(temporary, "packages");
  });
}

async function fingerprint(tool: PythonTool, path: string | undefined): Promise<string> {
  const hash = createHash("sha256")
    .update(`${process.platform} ${process.arch}\n`)
    .update(await readFile(tool.requirements));
  if (tool.runsInPython) hash.update(await pythonVersion(tool, path));
  return hash.digest("hex").slice(0, 16);
}

async function pythonVersion(tool: PythonTool, path: string | undefined): Promise<string> {
  const program = "import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_platform())";
  return (await python(["-c", program], tool, path)).stdout;
}

async function install(tool: PythonTool, temporary: string, path: string | undefined, signal?: AbortSignal) {
  await python(["-m", "pip", "--version"], tool, path);
  const pip = {
    name: "pip",
    command: "python3",
    args: [
      ...["-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--no-compile", "--require-hashes"],
      ...(tool.runsInPython ? [] : ["--ignore-requires-python"]),
      ...["--target", join(temporary, "packages"), "-r", tool.requirements],
    ],
    env: { PATH: path, ...PIP_ENVIRONMENT },
    logFile: join(temporary, "pip.log"),
  };
  await runTied(pip, signal).catch((cause: unknown) => {
    if (!(cause instanceof ProgramError)) throw cause;
    throw new Error(`pip could not install ${tool.name}: ${cause.message}`, { cause });
  });
}

/** Runs python3. Rejects with what to install if it or its pip is missing. */
async function python(args: string[], tool: PythonTool, path: string | undefined) {
  try {
    return await run("python3", args, { env: { ...process.env, PATH: path } });
  } catch (cause) {
    const missing = isAbsent(cause) ? "python3 is not on PATH" : "python3 does not run, or has no pip";
    throw new Error(
      `${tool.name} cannot be installed: ${missing}. Install Python 3.10 or newer with pip ` +
        "(Debian, Ubuntu: apt install python3 python3-pip; Fedora: dnf install python3-pip; macOS: brew install python).",
      { cause },
    );
  }
}
