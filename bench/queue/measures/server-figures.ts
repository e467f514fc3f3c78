import { redisRequest, type RedisServer } from "@drover/local-servers";

/** What one command cost the server since the statistics were reset. */
export interface CommandFigures {
  readonly command: string;
  readonly calls: number;
  /** µs, all calls together; of a script, with the commands it calls. */
  readonly time: number;
  /** µs; absent where the server keeps none (commands inside scripts). */
  readonly p99: number | undefined;
}

/** User and system time of the server process so far, µs. */
export async function serverCpu(server: RedisServer): Promise<number> {
  const info = await section(server, "cpu");
  return 1e6 * (number(info, "used_cpu_user") + number(info, "used_cpu_sys"));
}

/** Bytes that the server has allocated, but for its scripts. Clients count: let there be none. */
export async function serverMemory(server: RedisServer): Promise<number> {
  const info = await section(server, "memory");
  return number(info, "used_memory") - number(info, "used_memory_scripts");
}

export async function resetCommandFigures(server: RedisServer): Promise<void> {
  await redisRequest(server.port, ["CONFIG", "RESETSTAT"]);
}

/** The most expensive first. */
export async function commandFigures(server: RedisServer): Promise<CommandFigures[]> {
  const latencies = await section(server, "latencystats");
  const stats = await section(server, "commandstats");
  return [...stats.matchAll(/^cmdstat_(\S+?):calls=(\d+),usec=(\d+)/gm)]
    .map(([, command = "", calls, time]) => ({
      command: command.replace("|", " "),
      calls: Number(calls),
      time: Number(time),
      p99: p99Of(latencies, command),
    }))
    .sort((a, b) => b.time - a.time);
}

/** Empties the server, and waits until it has. */
export async function empty(server: RedisServer): Promise<void> {
  await redisRequest(server.port, ["FLUSHALL", "SYNC"]);
}

/** Such as `valkey 9.1.2`. */
export async function serverVersion(server: RedisServer): Promise<string> {
  const info = await section(server, "server");
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1];
  return valkey === undefined ? `Redis ${text(info, "redis_version")}` : `Valkey ${valkey}`;
}

const section = async (server: RedisServer, name: string): Promise<string> =>
  (await redisRequest(server.port, ["INFO", name])) ?? "";

function text(info: string, field: string): string {
  const value = new RegExp(`^${field}:(.*?)\r?$`, "m").exec(info)?.[1];
  if (value === undefined) throw new Error(`The server's INFO has no ${field}.`);
  return value;
}

const number = (info: string, field: string): number => Number(text(info, field));

function p99Of(latencies: string, command: string): number | undefined {
  const line = latencies.split("\n").find((each) => each.startsWith(`latency_percentiles_usec_${command}:`));
  const p99 = /p99=([\d.]+)/.exec(line ?? "")?.[1];
  return p99 === undefined ? undefined : Number(p99);
}
