import { functionQueueIn, type QueueName } from "@drover/controller";
import type { RedisConnection } from "./redis-connection.ts";
import { throwRefusal } from "./redis-errors.ts";
import { placeOf, primariesOf } from "./redis-primaries.ts";

/** A key in Redis that belongs to a queue: of its ledger, of its BullMQ jobs, or the events of its function's hooks. */
export interface QueueKey {
  /** The key. */
  readonly name: string;
  readonly queue: string;
}

/** Walks round the keys of queues, in as many steps as there are keys to look at. */
export interface KeyWalk {
  /**
   * The next keys, which may be none; undefined when every server was walked round. A key that was there from the first
   * step to the last is among them.
   *
   * @throws RedisRefusalError when the user may not SCAN. The same step can be taken again.
   */
  next(): Promise<readonly QueueKey[] | undefined>;
}

/** Names of keys that Redis looks at in one step. */
const perStep = 1_000;

/** @param of only the queues of this function. */
export function walkQueueKeys(redis: RedisConnection, of?: QueueName): KeyWalk {
  // No part of a queue's name has a meaning in a pattern.
  const pattern = `{drover*:${of ?? ""}*`;
  const cursors = new Map<string, string>();
  const done = new Set<string>();
  return {
    async next() {
      const servers = primariesOf(redis);
      if (servers.length === 0) throw new Error("No server of the Redis Cluster is known at the moment.");
      const server = servers.find((one) => !done.has(placeOf(one)));
      if (server === undefined) return undefined;
      const place = placeOf(server);
      const from = cursors.get(place) ?? "0";
      const [cursor, names] = await server.scan(from, "MATCH", pattern, "COUNT", perStep).catch(throwRefusal);
      if (cursor === "0") done.add(place);
      else cursors.set(place, cursor);
      return names.flatMap((name) => {
        const queue = queueOfKey(name);
        const isMeant = queue !== undefined && (of === undefined || functionQueueIn(queue) === of);
        return isMeant ? [{ name, queue }] : [];
      });
    },
  };
}

/** Deletes keys, without making others wait for the memory to be freed. */
export async function deleteKeys(redis: RedisConnection, keys: readonly QueueKey[]): Promise<void> {
  // Those of one hash tag are in one slot of a Redis Cluster.
  const byTag = Map.groupBy(keys, ({ name }) => name.slice(0, name.indexOf("}")));
  await Promise.all([...byTag.values()].map((same) => redis.unlink(same.map(({ name }) => name)))).catch(
    throwRefusal,
  );
}

/** The queue that a Redis key is of, by its hash tag; undefined for a key that is not a queue's. */
const queueOfKey = (name: string): string | undefined => /^\{drover(?:-hook)?:([^{}]+)\}/.exec(name)?.[1];
