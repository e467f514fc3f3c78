import { type Log, messageOf } from "@drover/controller";
import { Cluster, type Redis } from "ioredis";
import { placeOf } from "./redis-primaries.ts";

/** One line when what we talk to goes away and one when it is back, however often it is tried in between. */
export function logOutages(redis: Redis | Cluster, log: Log): void {
  const name = redis instanceof Cluster ? "Redis Cluster" : "Redis";
  report(redis, (error) => {
    if (error === undefined) log.info({}, `${name} is reachable again`);
    else log.warn({ error: messageOf(error) }, `${name} is not reachable; trying again until it is`);
  });
  if (!(redis instanceof Cluster)) return;
  // A node has a new connection after each failure, and one that nothing is sent to has none: it is neither away nor back.
  const away = new Set<string>();
  redis.on("+node", (connection: Redis) => {
    const node = placeOf(connection);
    connection.on("error", (error: Error) => {
      if (away.has(node)) return;
      away.add(node);
      log.warn(
        { node, error: messageOf(error) },
        "A node of the Redis Cluster is not reachable; what it serves waits",
      );
    });
    connection.on("ready", () => {
      if (away.delete(node)) log.info({ node }, "The node of the Redis Cluster is reachable again");
    });
  });
}

/** Calls `changed` with an error when the connection fails, and without one when it is back. */
function report(redis: Redis | Cluster, changed: (error?: Error) => void): void {
  let away = false;
  redis.on("error", (error: Error) => {
    if (!away) changed(error);
    away = true;
  });
  redis.on("ready", () => {
    if (away) changed();
    away = false;
  });
}
