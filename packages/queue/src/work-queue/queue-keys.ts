import { functionQueueOf, type QueueName } from "@drover/controller";
import { type RedisConnection, hostPortOf, primariesOf } from "../redis/redis-servers.ts";
import { throwRefusal } from "../redis/redis-errors.ts";

/** A Redis key that belongs to a queue: to its ledger, to its BullMQ jobs, or to the hook events of its function. */
export interface QueueKey {
  /** Name of the Redis key. */
  readonly name: string;
  readonly queue: string;
}

/** A scan of the Redis keys of queues, in as many steps as the number of keys in Redis requires. */
export interface QueueKeyScan {
  /**
   * Passes the next keys, if there are any, to `use`. If `use` or Redis fails, the next step passes them again. So a
   * key that exists from the first step to the last is passed at least once.
   *
   * @returns false, without a call of `use`, once every server has been scanned.
   * @throws RedisRefusalError if the user may not SCAN.
   */
  step(use: (keys: readonly QueueKey[]) => Promise<void>): Promise<boolean>;
}

/** Keys that Redis checks in one step. */
const keysPerStep = 1_000;

/** @param of limits the scan to the queues of this function. */
export function scanQueueKeys(redis: RedisConnection, of?: QueueName): QueueKeyScan {
  // Queue names contain no glob characters.
  const pattern = `{drover*:${of ?? ""}*`;
  const cursors = new Map<string, string>();
  const done = new Set<string>();
  return {
    async step(use) {
      const servers = primariesOf(redis);
      if (servers.length === 0) throw new Error("No server of the Redis Cluster is known at the moment.");
      const server = servers.find((one) => !done.has(hostPortOf(one)));
      if (server === undefined) return false;
      const address = hostPortOf(server);
      const from = cursors.get(address) ?? "0";
      const [cursor, names] = await server
        .scan(from, "MATCH", pattern, "COUNT", keysPerStep)
        .catch(throwRefusal);
      const keys = names.flatMap((name) => {
        const queue = queueOfKey(name);
        const isMatch = queue !== undefined && (of === undefined || functionQueueOf(queue) === of);
        return isMatch ? [{ name, queue }] : [];
      });
      if (keys.length > 0) await use(keys);
      if (cursor === "0") done.add(address);
      else cursors.set(address, cursor);
      return true;
    },
  };
}

/** Deletes keys by UNLINK, so that other clients do not wait while memory is freed. */
export async function deleteKeys(redis: RedisConnection, keys: readonly QueueKey[]): Promise<void> {
  // A call may only have keys of one Redis Cluster slot, such as the keys of one hash tag.
  const byTag = Map.groupBy(keys, ({ name }) => name.slice(0, name.indexOf("}")));
  await Promise.all([...byTag.values()].map((same) => redis.unlink(same.map(({ name }) => name)))).catch(
    throwRefusal,
  );
}

/** The queue to which a Redis key belongs, by its hash tag; undefined if it belongs to none. */
const queueOfKey = (name: string): string | undefined =>
  /^\{drover(?:-hook|\.system)?:([^{}]+)\}/.exec(name)?.[1];
