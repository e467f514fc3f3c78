import { silentLog } from "@drover/controller";
import { Option } from "commander";
import { CommandError } from "./command-error.ts";
import { usualRedis, usualRedisCaFile } from "./config.ts";
import { parseRedisUrl, type RedisConnection, UnfitRedisError } from "@drover/queue";

/** How long somebody at a terminal waits for a Redis that is not there. */
const patience = 5_000;

export const redisOption = (): Option =>
  new Option("--redis <url>", "that Drover runs on; default: DROVER_REDIS_URL").argParser(redisUrl);

/** @throws CommandError where it is no URL of a Redis; it does not show it. */
export function redisUrl(text: string): string {
  try {
    parseRedisUrl(text);
    return text;
  } catch (error) {
    // Not an InvalidArgumentError: Commander shows the argument with that.
    throw error instanceof UnfitRedisError
      ? new CommandError(`--redis cannot be used: ${error.message}`)
      : error;
  }
}

/**
 * The Redis that a command cannot do without: as given, or as the environment names it.
 * @throws CommandError where neither does.
 */
export function neededRedis(given: string | undefined): string {
  const url = given ?? usualRedis();
  if (url !== undefined) return url;
  throw new CommandError("What is due is in Redis: give --redis, or set DROVER_REDIS_URL.");
}

/**
 * Does something with Redis, and gives the connection back.
 * @throws UnfitRedisError when it cannot be reached or used.
 */
export async function withRedis<T>(url: string, use: (redis: RedisConnection) => Promise<T>): Promise<T> {
  const { connectRedis, disconnectRedis } = await import("@drover/queue");
  const ca = url.startsWith("rediss:") ? await usualRedisCa() : undefined;
  const redis = await connectRedis({
    ...(ca !== undefined && { ca }),
    url,
    clientName: "drover-cli",
    log: silentLog,
    patience,
    loadsScripts: false,
    scriptPatience: patience,
  });
  try {
    return await use(redis);
  } finally {
    await disconnectRedis(redis);
  }
}

/** For functions that have no queue in the Redis that was asked. To open one would make it there. */
export const elsewhere = (functions: readonly string[]): string =>
  `This Redis has no queue of ${functions.join(", ")}. A namespace that has a Redis of its own (DROVER_TENANTS_FILE of the ` +
  "bridge) has its queues there: give its URL with --redis. Or no bridge has woken anything of it yet.";

async function usualRedisCa(): Promise<string | undefined> {
  const file = usualRedisCaFile();
  if (file === undefined) return undefined;
  const { certificatesFile } = await import("@drover/runtime");
  const { data, error } = certificatesFile.safeParse(file);
  if (data !== undefined) return data;
  throw new CommandError(`DROVER_REDIS_CA_FILE cannot be used: ${error.issues[0]?.message ?? "unreadable"}`);
}
