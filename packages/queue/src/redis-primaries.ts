import { Cluster, type Redis } from "ioredis";

/** The servers that are written to: on a cluster, those that it names now. */
export const primariesOf = (redis: Redis | Cluster): readonly Redis[] =>
  redis instanceof Cluster ? redis.nodes("master") : [redis];

/** `host:port` of one server. */
export const placeOf = ({ options: { host = "", port = 0 } }: Redis): string => `${host}:${port}`;

/** The `run_id`s of the servers that are written to: no two servers have the same, and each start of one has another. */
export async function serverIds(redis: Redis | Cluster): Promise<readonly string[]> {
  const infos = await Promise.all(primariesOf(redis).map((server) => server.info("server")));
  return infos.flatMap((info) => /^run_id:(\w+)/m.exec(info)?.[1] ?? []);
}
