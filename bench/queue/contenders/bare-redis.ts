import { Redis } from "ioredis";
import type { Contender, Handler, Where, Working } from "./contender.ts";

/**
 * The floor: the fewest commands of a queue that does not lose a key when a worker dies. LPUSH to wake; LMOVE to a
 * list of taken keys and LREM from it per run, pipelined; BLMOVE while idle. No order, no retries, no leases, no folding.
 */
export function openBareRedis({ url, queue }: Where): Contender {
  const redis = new Redis(url, { enableAutoPipelining: true });
  const lists = { waiting: `{${queue}}:waiting`, taken: `{${queue}}:taken` };
  return {
    async wake(keys) {
      await redis.lpush(lists.waiting, ...keys);
    },
    work: (handler, concurrency) => Promise.resolve(work(redis, lists, handler, concurrency)),
    async close() {
      await redis.quit();
    },
  };
}

interface Lists {
  readonly waiting: string;
  readonly taken: string;
}

function work(redis: Redis, { waiting, taken }: Lists, handler: Handler, concurrency: number): Working {
  const blocking = redis.duplicate({ enableAutoPipelining: false });
  const idle = idleSlots();
  const stopping = new AbortController();
  const stopped = (): boolean => stopping.signal.aborted;
  let listening = false;

  const move = async (): Promise<string | null> => redis.lmove(waiting, taken, "RIGHT", "LEFT");
  /** One idle slot listens for all; a slot that gets a key wakes two more, so that few claims are in vain. */
  const listen = async (): Promise<string | null> => {
    if (listening) return idle.sleep().then(move);
    listening = true;
    const key = await blocking.blmove(waiting, taken, "RIGHT", "LEFT", 0).catch(() => null);
    listening = false;
    return key;
  };
  const slot = async (): Promise<void> => {
    let key = await move();
    while (!stopped()) {
      if (key === null) {
        key = await listen();
        if (key !== null) idle.rouse(2);
        continue;
      }
      await handler(key);
      [, key] = await Promise.all([redis.lrem(taken, 1, key), stopped() ? null : move()]);
    }
  };
  const slots = Array.from({ length: concurrency }, slot);
  return {
    async stop() {
      stopping.abort();
      blocking.disconnect();
      idle.rouse(concurrency);
      await Promise.all(slots);
    },
  };
}

function idleSlots(): { sleep(): Promise<void>; rouse(count: number): void } {
  const sleeping: (() => void)[] = [];
  return {
    sleep: () => new Promise((resolve) => void sleeping.push(resolve)),
    rouse: (count) => sleeping.splice(-count).forEach((resolve) => resolve()),
  };
}
