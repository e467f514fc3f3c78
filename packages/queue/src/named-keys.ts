import { type ObjectKey, objectKeyIn } from "@drover/controller";
import { LeaseLostError } from "./lease-keeper.ts";
import { callLua } from "./lua.ts";
import { prefixOf } from "./prefix-of.ts";
import type { RedisConnection } from "./redis-connection.ts";
import { remember } from "./scripts/remember.ts";

/**
 * For each key of a queue, the keys that its mapping code returned last. A key that is no longer returned must be
 * woken, too.
 */
export interface NamedKeys {
  of(key: ObjectKey): Promise<readonly ObjectKey[]>;
  /**
   * Stores the keys that the mapping code has returned. Call it after these and the previous ones have been woken.
   * @throws LeaseLostError if the run of that token no longer holds the key: a later run has newer results.
   */
  remember(
    run: { readonly key: ObjectKey; readonly token: string },
    named: readonly ObjectKey[],
  ): Promise<void>;
}

/** @param queue the name of the queue in which the mapping code runs. */
export function openNamedKeys(redis: RedisConnection, queue: string): NamedKeys {
  const prefix = prefixOf(queue);
  return {
    async of(key) {
      const text = await redis.hget(`${prefix}:named`, key);
      return text === null ? [] : text.split("\n").flatMap((one) => objectKeyIn(one) ?? []);
    },
    async remember({ key, token }, named) {
      const remembered = await callLua(redis, remember, prefix, { key, token, named: named.join("\n") });
      if (remembered !== 1) throw new LeaseLostError(`The run of ${key} no longer holds its lease.`);
    },
  };
}
