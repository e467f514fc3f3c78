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
   * Gives the next keys to `use`, where there are any. When that fails, or Redis does, the next step gives them again. So a key
   * that is there from the first step to the last is given at least once.
   *
   * @returns false, and gives nothing, when every server was walked round.
   * @throws RedisRefusalError when the user may not SCAN.
   */
  step(use: (keys: readonly QueueKey[]) => Promise<void>): Promise<boolean>;
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
    async step(use) {
      const servers = primariesOf(redis);
      if (servers.length === 0) throw new Error("No server of the Redis Cluster is known at the moment.");
      const server = servers.find((one) => !done.has(placeOf(one)));
      if (server === undefined) return false;
      const place = placeOf(server);
      const from = cursors.get(place) ?? "0";
      const [cursor, names] = await server.scan(from, "MATCH", pattern, "COUNT", perStep).catch(throwRefusal);
      const keys = names.flatMap((name) => {
        const queue = queueOfKey(name);
        const isMeant = queue !== undefined && (of === undefined || functionQueueIn(queue) === of);
        return isMeant ? [{ name, queue }] : [];
      });
      if (keys.length > 0) await use(keys);
      if (cursor === "0") done.add(place);
      else cursors.set(place, cursor);
      return true;
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
const queueOfKey = (name: string): string | undefined =>
  /^\{drover(?:-hook|\.system)?:([^{}]+)\}/.exec(name)?.[1];
