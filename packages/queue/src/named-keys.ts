import { type ObjectKey, objectKeyIn } from "@drover/controller";
import { LeaseLostError } from "./lease-keeper.ts";
import { callLua } from "./lua.ts";
import { prefixOf } from "./prefix-of.ts";
import type { RedisConnection } from "./redis-connection.ts";
import { remember } from "./scripts/remember.ts";

/** The keys that a queue's keys named the last time they were asked: who is named no more is to hear of it, too. */
export interface NamedKeys {
  of(key: ObjectKey): Promise<readonly ObjectKey[]>;
  /**
   * To be called after all that were named, and are, were woken.
   * @throws LeaseLostError when the run of that token holds the key no more: a later run knows better.
   */
  remember(
    run: { readonly key: ObjectKey; readonly token: string },
    named: readonly ObjectKey[],
  ): Promise<void>;
}

/** @param queue the name of the queue whose runs ask. */
export function openNamedKeys(redis: RedisConnection, queue: string): NamedKeys {
  const prefix = prefixOf(queue);
  return {
    async of(key) {
      const text = await redis.hget(`${prefix}:named`, key);
      return text === null ? [] : text.split("\n").flatMap((one) => objectKeyIn(one) ?? []);
    },
    async remember({ key, token }, named) {
      const remembered = await callLua(redis, remember, prefix, { key, token, named: named.join("\n") });
      if (remembered !== 1) throw new LeaseLostError(`The run of ${key} holds it no more.`);
    },
  };
}
