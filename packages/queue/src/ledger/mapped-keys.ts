import { type ObjectKey, tryParseObjectKey } from "@drover/controller";
import { LeaseLostError } from "../worker/lease-keeper.ts";
import { callLua } from "../redis/lua/lua-script.ts";
import { queuePrefix } from "../work-queue/queue-prefix.ts";
import type { RedisConnection } from "../redis/redis-servers.ts";
import { storeMappedKeysScript } from "./ledger-scripts.ts";

/**
 * For each key of a queue, the keys that its mapping code returned last. A key that is no longer returned must be
 * woken, too.
 */
export interface MappedKeys {
  get(key: ObjectKey): Promise<readonly ObjectKey[]>;
  /**
   * Stores the keys that the mapping code has returned. Call it after these and the previous ones have been woken.
   * @throws LeaseLostError if the run of that token no longer holds the key: a later run has newer results.
   */
  store(
    run: { readonly key: ObjectKey; readonly token: string },
    mapped: readonly ObjectKey[],
  ): Promise<void>;
}

/** @param queue the name of the queue in which the mapping code runs. */
export function openMappedKeys(redis: RedisConnection, queue: string): MappedKeys {
  const prefix = queuePrefix(queue);
  return {
    async get(key) {
      const text = await redis.hget(`${prefix}:named`, key);
      return text === null ? [] : text.split("\n").flatMap((one) => tryParseObjectKey(one) ?? []);
    },
    async store({ key, token }, mapped) {
      const stored = await callLua(redis, storeMappedKeysScript, prefix, {
        key,
        token,
        named: mapped.join("\n"),
      });
      if (stored !== 1) throw new LeaseLostError(`The run of ${key} no longer holds its lease.`);
    },
  };
}
