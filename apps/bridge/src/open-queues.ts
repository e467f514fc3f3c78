import type { Log, Milliseconds } from "@drover/controller";
import { openWorkQueue, type WorkQueue } from "@drover/queue";
import { atMost, isOver, pause, recent, type TenantRedis } from "@drover/runtime";
import type { KnownOrigins } from "@drover/streams";
import { type TokenBucket, tokenBucket } from "./token-bucket.ts";
import { wordsOf } from "./words-of.ts";

/**
 * The queues of the registered controllers, and the first incarnation of each: the id under which its data began,
 * empty.
 */
export interface Queues {
  /** Sets the registered controllers: opens their queues, and closes all others. */
  want(controllers: readonly string[]): void;
  readonly of: (controller: string) => WorkQueue;
  readonly all: () => readonly WorkQueue[];
  /** The first incarnations that the queues have reported, to this bridge or to an earlier one. */
  readonly origins: ReadonlyMap<string, string>;
  /** Queues that have neither answered nor timed out yet, as messages. */
  problems(): readonly string[];
  /** Queues without a known first incarnation, because they or their Redis do not answer, each with the reason. */
  readonly silent: () => ReadonlyMap<string, string>;
  close(): Promise<void>;
}

export interface QueuesOptions {
  /** Returns the Redis of a queue. */
  readonly redisFor: TenantRedis["redisFor"];
  readonly known: KnownOrigins;
  readonly log: Log;
  /** Time before a queue is asked again if it did not report its first incarnation, or has changed it too often. */
  readonly again: Milliseconds;
  /** A first incarnation has changed, or a queue has stopped answering. */
  readonly onChange: () => void;
}

/** The queue of a registered controller, and its state. */
interface Opened {
  readonly controller: string;
  /** Undefined while its Redis is unavailable or must not be written to. */
  queue?: WorkQueue | undefined;
  /** Why it does not report its first incarnation; undefined if it does. */
  silence?: string | undefined;
  /** Limits how often a change of its first incarnation is accepted. */
  readonly changes: TokenBucket;
  /** The last change that was accepted, even if storing it failed at first. */
  taken?: string;
  /** If true, the retry loop is pausing, and will ask for the first incarnation again by itself. */
  waits?: boolean;
  readonly closed: AbortController;
}

/**
 * After a queue's first incarnation changes, every object is enqueued again. This lists the function's kinds again, and
 * other functions that watch them wait meanwhile. A function's Redis user can change the incarnation at any time, so
 * changes are rate-limited: five at once, then one every 15 s.
 */
const changesTaken = { burst: 5, perSecond: 1 / 15 };

/** Time without an answer after which a queue counts as silent. */
const patience: Milliseconds = 2_000;
/** How long to wait for queues when they are closed. */
const farewell: Milliseconds = 2_000;

export function openQueues(options: QueuesOptions): Queues {
  const { known, log } = options;
  const opened = new Map<string, Opened>();
  const origins = new Map<string, string>();
  /** The values that earlier bridges stored, updated with those reported since. */
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
    // One of them may have been registered again meanwhile.
    for (const name of stale) if (!opened.has(name)) names.delete(name);
  };
  const silences = (): readonly (readonly [string, string | undefined])[] =>
    [...opened].flatMap(([name, { silence }]) => (origins.has(name) ? [] : [[name, silence] as const]));
  return {
    origins,
    want(controllers) {
      for (const controller of controllers) if (!opened.has(controller)) open(controller);
      closeUnwanted(controllers).catch((error: unknown) => {
        log.warn({ err: error }, "Could not delete the stored incarnations of removed controllers");
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

/** Never rejects: a queue that cannot be closed must not prevent others from being opened, closed or forgotten. */
async function closeQueue(one: Opened): Promise<void> {
  const { queue } = one;
  one.queue = undefined;
  if (queue !== undefined) await atMost(farewell, Promise.allSettled([queue.close()]));
}

/**
 * Opens a queue on its Redis, and again on the next connection when that one is abandoned.
 * @throws TenantRedisError while its Redis is unavailable.
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
      one.silence = "The connection to its Redis was closed; a new one is opened.";
      one.waits = false;
      void closeQueue(one);
      learn(one);
    };
    gone.addEventListener("abort", reopen, { once: true, signal: closed.signal });
    return queue;
  };

/**
 * Opens a queue once its Redis is available, and asks for its first incarnation until it answers. Until then the last
 * stored value is used.
 */
function originLearner(
  options: QueuesOptions,
  opened: ReadonlyMap<string, Opened>,
  origins: Map<string, string>,
  recall: () => Promise<Map<string, string>>,
) {
  const { known, log, again, onChange } = options;
  const openedQueue = queueOpener(options, (one) => void learn(one));
  /** Returns false if the first incarnation changed more often than allowed: it must be asked for again. */
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
    // Stored before it is used: a bridge that starts while the queue is silent must find it.
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
    if (isNew) log.warn({ controller, why }, "A queue does not answer; trying again");
    one.silence = why;
    const before = (await recall()).get(controller);
    // It may have answered meanwhile.
    if (opened.get(controller) !== one || origins.has(controller)) return;
    if (before !== undefined) origins.set(controller, before);
    if (isNew || before !== undefined) onChange();
  };
  const learn = async (one: Opened): Promise<void> => {
    const { signal } = one.closed;
    // If the stored values cannot be read, the next turn tries again.
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
