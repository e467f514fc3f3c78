import {
  type FunctionIdentity,
  type Milliseconds,
  type QueueName,
  queueOf,
  RetryAfterError,
} from "@drover/controller";
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

/**
 * @param serversOf the servers that a function's keys are in: those of its queues may be in another than those of its hooks. One
 * that is not there is left out, and swept when it is.
 */
export function functionKeys(
  serversOf: (queue: QueueName) => readonly RedisConnection[],
  turn: Milliseconds = usualTurn,
): FunctionKeys {
  const walks = new WeakMap<RedisConnection, Map<string, KeyWalk>>();
  const walkOf = (redis: RedisConnection, queue: QueueName): KeyWalk => {
    const here = walks.get(redis) ?? new Map<string, KeyWalk>();
    walks.set(redis, here);
    const walk = here.get(queue) ?? walkQueueKeys(redis, queue);
    here.set(queue, walk);
    return walk;
  };
  return {
    async deleteAll(identity) {
      const queue = queueOf(identity);
      const end = performance.now() + turn;
      for (const redis of serversOf(queue)) {
        const walk = walkOf(redis, queue);
        while (await walk.step((keys) => deleteKeys(redis, keys))) {
          if (performance.now() > end) {
            throw new RetryAfterError("Its keys in Redis are being deleted.", {
              after: "1ms",
              reason: "KeysLeft",
            });
          }
        }
      }
      for (const redis of serversOf(queue)) walks.get(redis)?.delete(queue);
    },
  };
}
