import { Cluster, type Redis } from "ioredis";

/** The servers that are written to: on a cluster, those that it names now. */
export const primariesOf = (redis: Redis | Cluster): readonly Redis[] =>
  redis instanceof Cluster ? redis.nodes("master") : [redis];

/** `host:port` of one server. */
export const placeOf = ({ options: { host = "", port = 0 } }: Redis): string => `${host}:${port}`;
