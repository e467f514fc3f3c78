import { Cluster, type Redis } from "ioredis";

/** The servers that receive writes: on a cluster, its present primaries. */
export const primariesOf = (redis: Redis | Cluster): readonly Redis[] =>
  redis instanceof Cluster ? redis.nodes("master") : [redis];

/** `host:port` of one server. */
export const hostPortOf = ({ options: { host = "", port = 0 } }: Redis): string => `${host}:${port}`;

/**
 * The `run_id`s of the servers that receive writes. It differs between servers, and between two starts of one server.
 */
export async function serverIds(redis: Redis | Cluster): Promise<readonly string[]> {
  const infos = await Promise.all(primariesOf(redis).map((server) => server.info("server")));
  return infos.flatMap((info) => /^run_id:(\w+)/m.exec(info)?.[1] ?? []);
}

/** One server, or a cluster of them. */
export type RedisConnection = Redis | Cluster;
