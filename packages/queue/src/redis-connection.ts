import type { Log, Milliseconds } from "@drover/controller";
import { type Cluster, Redis } from "ioredis";

/** One server, or a cluster of them. */
export type RedisConnection = Redis | Cluster;

/** How to reach Redis. */
export interface RedisOptions {
  /** `redis://[user[:password]@]host:port[/db]`, or `rediss://` for TLS. */
  readonly url: string;
  /** Overrides the URL's password. */
  readonly password?: string;
  /** Shown by `CLIENT LIST`. */
  readonly clientName: string;
  readonly log: Log;
}

/** The oldest server that has what the scripts use; Valkey reports 7.2 or newer. */
const oldestVersion = 7;
/** Reconnect quickly: with ioredis's default a queue came back up to 18 s after the server did. */
const slowestReconnect: Milliseconds = 500;
/** How long a server that is not there yet is waited for. */
const patience: Milliseconds = 30_000;

/**
 * Connect, and check that this server can be trusted with a queue.
 *
 * Once connected, commands wait for as long as the server is away and are sent again after a reconnect: every script
 * here is safe to repeat.
 *
 * @throws UnfitRedisError when the server must not be used or cannot be reached; the message says what to change.
 */
export async function connectRedis({ url, password, clientName, log }: RedisOptions): Promise<Redis> {
  // Not lazyConnect: BullMQ's own connections are duplicates of this one, and a lazy one that meets a server that is
  // away for a moment is dead for good.
  const redis = new Redis(url, {
    ...(password === undefined ? {} : { password }),
    connectionName: clientName,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(50 * attempt, slowestReconnect),
  });
  logOutages(redis, log);
  try {
    await untilReady(redis);
    await refuseUnfit(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return redis;
}

/** One line when the server goes away and one when it is back, however often it is tried in between. */
function logOutages(redis: Redis, log: Log): void {
  let away = false;
  redis.on("error", (error: Error) => {
    if (!away) log.warn({ error: error.message }, "Redis is not reachable; trying again until it is");
    away = true;
  });
  redis.on("ready", () => {
    if (away) log.info({}, "Redis is reachable again");
    away = false;
  });
}

/** Ends the connection: in order where the server answers, at once where it is away. */
export async function disconnectRedis(redis: Redis): Promise<void> {
  if (redis.status === "ready") await redis.quit();
  else redis.disconnect();
}

async function untilReady(redis: Redis): Promise<void> {
  const { host = "", port = 0 } = redis.options;
  const ready = Promise.withResolvers<undefined>();
  let last = "no answer";
  const onError = (error: Error): void => {
    last = error.message;
    if (error.name === "ReplyError") {
      ready.reject(
        new UnfitRedisError(`Redis at ${host}:${port} refuses us: ${last}. Check user and password.`),
      );
    }
  };
  const giveUp = (): void =>
    ready.reject(
      new UnfitRedisError(`Redis at ${host}:${port} is not reachable: ${last}. Start it, or give its URL.`),
    );
  const timer = setTimeout(giveUp, patience);
  redis.on("error", onError).once("ready", () => ready.resolve(undefined));
  await ready.promise.finally(() => {
    clearTimeout(timer);
    redis.off("error", onError);
  });
}

/** A Redis that cannot keep a queue's promises. */
export class UnfitRedisError extends Error {
  override readonly name = "UnfitRedisError";
}

async function refuseUnfit(redis: Redis): Promise<void> {
  const info = await redis.info();
  const version = field(info, "redis_version");
  if (Number.parseInt(version, 10) < oldestVersion) {
    throw new UnfitRedisError(`Redis ${version} is too old. Use Redis 7 or newer, or Valkey.`);
  }
  if (field(info, "role") === "slave") {
    throw new UnfitRedisError("This Redis is a read-only replica. Give the URL of its primary.");
  }
  const policy = field(info, "maxmemory_policy");
  if (policy !== "noeviction") {
    throw new UnfitRedisError(
      `This Redis evicts keys when memory is short (maxmemory-policy ${policy}), which loses work. ` +
        "Set it with: CONFIG SET maxmemory-policy noeviction",
    );
  }
}

const field = (info: string, name: string): string =>
  new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
