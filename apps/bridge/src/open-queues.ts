import type { Log, Milliseconds } from "@drover/controller";
import { openWorkQueue, type WorkQueue } from "@drover/queue";
import { atMost, isOver, pause, recent, type TenantRedis } from "@drover/runtime";
import type { KnownOrigins } from "@drover/streams";
import { type TokenBucket, tokenBucket } from "./token-bucket.ts";
import { wordsOf } from "./words-of.ts";

/** The queues of the registered controllers, and the origin of each. */
export interface Queues {
  /** These controllers there are: their queues are opened, those of others closed. */
  want(controllers: readonly string[]): void;
  readonly of: (controller: string) => WorkQueue;
  readonly all: () => readonly WorkQueue[];
  /** Of the queues that have told it, now or to an earlier bridge. */
  readonly origins: ReadonlyMap<string, string>;
  /** Queues that were not asked to the end yet. */
  problems(): readonly string[];
  /** Queues that nothing is known of, since they do not answer or their Redis is not there, and why. */
  readonly silent: () => ReadonlyMap<string, string>;
  close(): Promise<void>;
}

export interface QueuesOptions {
  /** Where each queue is. */
  readonly redisFor: TenantRedis["redisFor"];
  readonly known: KnownOrigins;
  readonly log: Log;
  /** A queue that could not tell its origin, or has changed it too often, is asked again after this time. */
  readonly again: Milliseconds;
  /** Another origin is known than before, or a queue has become silent. */
  readonly onChange: () => void;
}

/** The queue of a registered controller, and how far it is known. */
interface Opened {
  readonly controller: string;
  /** Undefined while its Redis is not there, or must not be written to. */
  queue?: WorkQueue | undefined;
  /** Set while it does not tell its origin: why. */
  silence?: string | undefined;
  /** Changes of its origin that may be taken note of. */
  readonly changes: TokenBucket;
  /** The last one that was, also where it could not be remembered at once. */
  taken?: string;
  /** The retry loop is pausing: it asks for the origin again by itself. */
  waits?: boolean;
  readonly closed: AbortController;
}

/**
 * After a queue's origin changes, every object is enqueued again. This lists the function's kinds again, and other functions
 * that watch them wait meanwhile. A function's Redis user can change the origin at any time, so changes are rate-limited: five
 * at once, then one every 15 s.
 */
const changesTaken = { burst: 5, perSecond: 1 / 15 };

/** How long a queue is waited for before it counts as silent. */
const patience: Milliseconds = 2_000;
/** How long queues are waited for when they are closed. */
const farewell: Milliseconds = 2_000;

export function openQueues(options: QueuesOptions): Queues {
  const { known, log } = options;
  const opened = new Map<string, Opened>();
  const origins = new Map<string, string>();
  /** As earlier bridges have left them, and as they were told since. */
  const recall = recent(async () => new Map(await known.all()), Infinity);
  const learn = originLearner(options, opened, origins, recall);
  const open = (controller: string): void => {
    const changes = tokenBucket(changesTaken, () => performance.now());
    const one: Opened = { controller, changes, closed: new AbortController() };
    opened.set(controller, one);
    void learn(one);
  };
  const close = async (one: Opened): Promise<void> => {
    opened.delete(one.controller);
    origins.delete(one.controller);
    one.closed.abort();
    await closeQueue(one);
  };
  const closeUnwanted = async (controllers: readonly string[]): Promise<void> => {
    const gone = [...opened.values()].filter(({ controller }) => !controllers.includes(controller));
    await Promise.all(gone.map(close));
    const names = await recall();
    const stale = [...names.keys()].filter((name) => !opened.has(name));
    await known.forget(stale);
    // One of them may be registered again meanwhile.
    for (const name of stale) if (!opened.has(name)) names.delete(name);
  };
  const silences = (): readonly (readonly [string, string | undefined])[] =>
    [...opened].flatMap(([name, { silence }]) => (origins.has(name) ? [] : [[name, silence] as const]));
  return {
    origins,
    want(controllers) {
      for (const controller of controllers) if (!opened.has(controller)) open(controller);
      closeUnwanted(controllers).catch((error: unknown) => {
        log.warn({ err: error }, "Could not forget the origins of controllers that are gone");
      });
    },
    of(controller) {
      const one = opened.get(controller);
      if (one === undefined) throw new Error(`The controller ${controller} is not registered any more.`);
      if (one.queue === undefined) throw new Error(one.silence ?? "The queue is not open yet.");
      return one.queue;
    },
    all: () => [...opened.values()].flatMap(({ queue }) => queue ?? []),
    problems: () =>
      silences().flatMap(([name, why]) =>
        why === undefined ? [`the queue of ${name} is not open yet`] : [],
      ),
    silent: () =>
      new Map(silences().flatMap(([name, why]) => (why === undefined ? [] : [[name, why] as const]))),
    close: async () => {
      await Promise.all([...opened.values()].map(close));
    },
  };
}

/** Never rejects: a queue that does not close keeps nothing from being opened, closed or forgotten. */
async function closeQueue(one: Opened): Promise<void> {
  const { queue } = one;
  one.queue = undefined;
  if (queue !== undefined) await atMost(farewell, Promise.allSettled([queue.close()]));
}

/**
 * Opens a queue where it is, and again where its Redis is given up.
 * @throws TenantRedisError while its Redis is not there.
 */
const queueOpener =
  ({ redisFor, log }: QueuesOptions, learn: (one: Opened) => void) =>
  (one: Opened): WorkQueue => {
    if (one.queue !== undefined) return one.queue;
    const { controller, closed } = one;
    const { redis, gone } = redisFor(controller);
    const queue = openWorkQueue({ redis, controller, log, onIncarnation: () => learn(one) });
    one.queue = queue;
    const reopen = (): void => {
      one.silence = "Its Redis is not used any more.";
      one.waits = false;
      void closeQueue(one);
      learn(one);
    };
    gone.addEventListener("abort", reopen, { once: true, signal: closed.signal });
    return queue;
  };

/**
 * Opens a queue once its Redis is there, and asks it for its origin until it answers. Until then it counts as the one that it was
 * when it last answered.
 */
function originLearner(
  options: QueuesOptions,
  opened: ReadonlyMap<string, Opened>,
  origins: Map<string, string>,
  recall: () => Promise<Map<string, string>>,
) {
  const { known, log, again, onChange } = options;
  const openedQueue = queueOpener(options, (one) => void learn(one));
  /** False while its origin changes more often than it may: it must be asked again. */
  const asked = async (one: Opened): Promise<boolean> => {
    const { controller } = one;
    const origin = await openedQueue(one).origin();
    const isChange = origins.has(controller) && origins.get(controller) !== origin;
    if (isChange && one.taken !== origin) {
      if (!one.changes.take()) {
        one.silence = undefined;
        return false;
      }
      one.taken = origin;
    }
    // Before anything is recorded for it: a bridge that starts while it is silent must know it.
    await known.remember(controller, origin);
    (await recall()).set(controller, origin);
    if (opened.get(controller) !== one) return true;
    one.silence = undefined;
    const isNews = origins.get(controller) !== origin;
    origins.set(controller, origin);
    if (isNews) onChange();
    return true;
  };
  const silenced = async (one: Opened, why: string): Promise<void> => {
    const { controller } = one;
    const isNew = one.silence === undefined;
    if (isNew) log.warn({ controller, why }, "A queue does not tell its origin; trying again");
    one.silence = why;
    const before = (await recall()).get(controller);
    // It may have answered meanwhile.
    if (opened.get(controller) !== one || origins.has(controller)) return;
    if (before !== undefined) origins.set(controller, before);
    if (isNew || before !== undefined) onChange();
  };
  const learn = async (one: Opened): Promise<void> => {
    const { signal } = one.closed;
    // Where the origins of before cannot be read, the next turn tries again.
    const trouble = (error: unknown): void => void silenced(one, wordsOf(error)).catch(() => undefined);
    while (!isOver(signal) && one.waits !== true) {
      const late = setTimeout(trouble, patience, new Error(`Redis has not answered for ${patience} ms.`));
      try {
        if (await asked(one)) return;
      } catch (error) {
        if (!isOver(signal)) trouble(error);
      } finally {
        clearTimeout(late);
      }
      one.waits = true;
      await pause(again, signal);
      one.waits = false;
    }
  };
  return learn;
}
