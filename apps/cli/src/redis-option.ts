import { type Log, silentLog } from "@drover/controller";
import { Option } from "commander";
import { CommandError } from "./command-error.ts";
import { defaultRedisUrl, defaultRedisCaFile } from "./config.ts";
import { parseRedisUrl, type RedisConnection, UnfitRedisError } from "@drover/queue";

/** How long a command waits for a Redis that does not answer. */
const connectTimeout = 5_000;

/** @param withoutIt what a command does that needs no Redis. */
export const redisOption = (withoutIt?: string): Option => {
  const description = "the Redis that Drover uses; default: DROVER_REDIS_URL";
  return new Option(
    "--redis <url>",
    withoutIt === undefined ? description : `${description}; without both: ${withoutIt}`,
  ).argParser(redisUrl);
};

/** @throws CommandError if it is not a Redis URL. The message does not contain the URL, which may have a password. */
export function redisUrl(text: string): string {
  try {
    parseRedisUrl(text);
    return text;
  } catch (error) {
    // Not an InvalidArgumentError: Commander prints the argument with it.
    throw error instanceof UnfitRedisError
      ? new CommandError(`--redis cannot be used: ${error.message}`)
      : error;
  }
}

/**
 * The URL of the Redis that a command needs: the given one, else DROVER_REDIS_URL.
 * @throws CommandError if neither is set.
 */
export function requireRedisUrl(given: string | undefined): string {
  const url = given ?? defaultRedisUrl();
  if (url !== undefined) return url;
  throw new CommandError("This command reads the queue in Redis: give --redis, or set DROVER_REDIS_URL.");
}

/**
 * Calls `use` with a connection to Redis, and closes it afterwards.
 * @param log gets warnings about the server.
 * @throws UnfitRedisError if Redis cannot be reached or used.
 */
export async function withRedis<T>(
  url: string,
  use: (redis: RedisConnection) => Promise<T>,
  log: Log = silentLog,
): Promise<T> {
  const { connectRedis, disconnectRedis } = await import("@drover/queue");
  const ca = await redisCa(url);
  const redis = await connectRedis({
    ...(ca !== undefined && { ca }),
    url,
    clientName: "drover-cli",
    log,
    connectTimeout,
    loadsScripts: false,
    scriptTimeout: connectTimeout,
  });
  try {
    return await use(redis);
  } finally {
    await disconnectRedis(redis);
  }
}

/** The message for functions without a queue in this Redis. Do not open such a queue: that would create it. */
export const queueNotFoundMessage = (functions: readonly string[]): string =>
  `This Redis has no queue of ${functions.join(", ")}. A namespace that has a Redis of its own (DROVER_TENANTS_FILE of the ` +
  "bridge) has its queues there: give its URL with --redis. Or no bridge has woken any of its objects yet.";

/** The certificates that DROVER_REDIS_CA_FILE has for a `rediss://` URL; undefined for others, or if it is not set. */
export async function redisCa(url: string): Promise<string | undefined> {
  const file = url.startsWith("rediss:") ? defaultRedisCaFile() : undefined;
  if (file === undefined) return undefined;
  const { certificatesFile } = await import("@drover/runtime");
  const { data, error } = certificatesFile.safeParse(file);
  if (data !== undefined) return data;
  throw new CommandError(`DROVER_REDIS_CA_FILE cannot be used: ${error.issues[0]?.message ?? "unreadable"}`);
}
