import {
  type FunctionIdentity,
  functionQueueOf,
  type Milliseconds,
  type QueueName,
  queueOf,
  RetryAfterError,
} from "@drover/controller";
import { deleteKeys, type QueueKeyScan, type RedisConnection, scanQueueKeys } from "@drover/queue";

/** Deletes the keys in Redis of functions that are being deleted. */
export interface FunctionKeys {
  /**
   * Deletes all keys of a function: those of its queues, and the events of its hooks.
   *
   * @throws RetryAfterError if it takes longer than one run should. The next run continues where this one ended; a
   * process that has just started begins again.
   */
  deleteAll(identity: FunctionIdentity): Promise<void>;
}

/** Maximum time that one run deletes keys. */
const maxDeletionTime: Milliseconds = 2_000;

/**
 * @param serversOf the servers with keys of a function: those of its queues may be in another server than those of its
 * hooks. A server that is not available is left out, and swept when it is back.
 */
export function functionKeys(
  serversOf: (queue: QueueName) => readonly RedisConnection[],
  maxTime: Milliseconds = maxDeletionTime,
): FunctionKeys {
  const removals = new WeakMap<RedisConnection, Removal>();
  const removalFrom = (redis: RedisConnection): Removal => {
    const removal = removals.get(redis) ?? removalOf(redis);
    removals.set(redis, removal);
    return removal;
  };
  return {
    async deleteAll(identity) {
      const queue = queueOf(identity);
      const end = performance.now() + maxTime;
      for (const redis of serversOf(queue)) {
        const removal = removalFrom(redis);
        while (removal.isPending(queue)) {
          await removal.step();
          if (removal.isPending(queue) && performance.now() > end) {
            throw new RetryAfterError(
              `Its keys in Redis are being deleted: ${removal.steps()} pieces of the server have been searched.`,
              { after: "1ms", reason: "KeysLeft" },
            );
          }
        }
      }
      for (const redis of serversOf(queue)) removalFrom(redis).forget(queue);
    },
  };
}

/** Deletes the keys of deleted functions from one server. One scan of the server (a round) serves all of them. */
interface Removal {
  /** True until a complete round has deleted the queue's keys. The first call adds the queue to the next round. */
  isPending(queue: QueueName): boolean;
  /** Scans a piece of the server. Concurrent calls share one piece. */
  step(): Promise<void>;
  /** The number of steps in all rounds. */
  steps(): number;
  forget(queue: QueueName): void;
}

function removalOf(redis: RedisConnection): Removal {
  /** The queues that this round deletes. Fixed when the round starts, because only a complete round sees every key. */
  let leaving: ReadonlySet<QueueName> = new Set();
  let next = new Set<QueueName>();
  const done = new Set<QueueName>();
  let walk: QueueKeyScan | undefined;
  let stepping: Promise<void> | undefined;
  let steps = 0;
  const step = async (): Promise<void> => {
    steps += 1;
    if (walk === undefined) {
      [leaving, next] = [next, new Set()];
      const [first] = leaving;
      walk = scanQueueKeys(redis, leaving.size === 1 ? first : undefined);
    }
    const isOn = await walk.step(async (keys) => {
      const left = keys.filter(({ queue }) => {
        const of = functionQueueOf(queue);
        return of !== undefined && leaving.has(of);
      });
      if (left.length > 0) await deleteKeys(redis, left);
    });
    if (isOn) return;
    for (const queue of leaving) done.add(queue);
    leaving = new Set();
    walk = undefined;
  };
  return {
    isPending(queue) {
      if (done.has(queue)) return false;
      if (!leaving.has(queue)) next.add(queue);
      return true;
    },
    step: () => (stepping ??= step().finally(() => (stepping = undefined))),
    steps: () => steps,
    forget: (queue) => void done.delete(queue),
  };
}
