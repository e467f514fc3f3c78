import { type FunctionIdentity, type Milliseconds, queueOf, RetryAfterError } from "@drover/controller";
import { deleteKeys, type KeyWalk, type RedisConnection, walkQueueKeys } from "@drover/queue";

/** The keys in Redis of functions that are being deleted. */
export interface FunctionKeys {
  /**
   * Deletes all keys of a function: of its queues, and of its hooks' events.
   *
   * @throws RetryAfterError when it takes longer than one run should: the next run goes on where this one ended. A process
   * that starts meanwhile begins again.
   */
  deleteAll(identity: FunctionIdentity): Promise<void>;
}

/** How long one run deletes keys. */
const usualTurn: Milliseconds = 2_000;

export function functionKeys(redis: RedisConnection, turn: Milliseconds = usualTurn): FunctionKeys {
  const walks = new Map<string, KeyWalk>();
  return {
    async deleteAll(identity) {
      const queue = queueOf(identity);
      const walk = walks.get(queue) ?? walkQueueKeys(redis, queue);
      walks.set(queue, walk);
      const end = performance.now() + turn;
      while (await walk.step((keys) => deleteKeys(redis, keys))) {
        if (performance.now() > end) {
          throw new RetryAfterError("Its keys in Redis are being deleted.", {
            after: "1ms",
            reason: "KeysLeft",
          });
        }
      }
      walks.delete(queue);
    },
  };
}
