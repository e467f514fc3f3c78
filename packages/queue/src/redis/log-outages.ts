import { type Log, messageOf } from "@drover/controller";
import { Cluster, type Redis } from "ioredis";
import { hostPortOf } from "./redis-servers.ts";

/** Logs one line when the connection fails and one when it is back, however many attempts fail in between. */
export function logOutages(redis: Redis | Cluster, log: Log): void {
  const name = redis instanceof Cluster ? "Redis Cluster" : "Redis";
  watchOutages(redis, (error) => {
    if (error === undefined) log.info({}, `${name} is reachable again`);
    else log.warn({ error: messageOf(error) }, `${name} is not reachable; trying again until it is`);
  });
  if (!(redis instanceof Cluster)) return;
  // By node: a node gets a new connection after each failure. An unused node has none, and nothing is logged for it.
  const away = new Set<string>();
  redis.on("+node", (connection: Redis) => {
    const node = hostPortOf(connection);
    connection.on("error", (error: Error) => {
      if (away.has(node)) return;
      away.add(node);
      log.warn(
        { node, error: messageOf(error) },
        "A node of the Redis Cluster is not reachable; commands for its keys wait",
      );
    });
    connection.on("ready", () => {
      if (away.delete(node)) log.info({ node }, "The node of the Redis Cluster is reachable again");
    });
  });
}

/** Calls `onChange` with an error when the connection fails, and without one when it is back. */
function watchOutages(redis: Redis | Cluster, onChange: (error?: Error) => void): void {
  let away = false;
  redis.on("error", (error: Error) => {
    if (!away) onChange(error);
    away = true;
  });
  redis.on("ready", () => {
    if (away) onChange();
    away = false;
  });
}
