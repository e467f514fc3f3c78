import { waitAtMost, isAborted, sleepUnlessAborted } from "@drover/timers";
import type { Log, Milliseconds } from "@drover/controller";
import { openWorkQueue, type WorkQueue } from "@drover/queue";
import { cacheWithTtl, type TenantRedis } from "@drover/runtime";
import type { FirstIncarnationStore } from "./first-incarnations.ts";
import { type TokenBucket, tokenBucket } from "../token-bucket.ts";
import { errorSummary } from "../error-summary.ts";

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
  readonly firstIncarnations: ReadonlyMap<string, string>;
  /** Queues that have neither answered nor timed out yet, as messages. */
  problems(): readonly string[];
  /** Queues without a known first incarnation, because they or their Redis do not answer, each with the reason. */
  readonly unresponsive: () => ReadonlyMap<string, string>;
  close(): Promise<void>;
}

export interface QueuesOptions {
  /** Returns the Redis of a queue. */
  readonly redisFor: TenantRedis["redisFor"];
  readonly known: FirstIncarnationStore;
  readonly log: Log;
  /** Time before a queue is asked again if it did not report its first incarnation, or has changed it too often. */
  readonly again: Milliseconds;
  /** A first incarnation has changed, or a queue has stopped answering. */
  readonly onChange: () => void;
}

/** The queue of a registered controller, and its state. */
interface RegisteredQueue {
  readonly controller: string;
  /** Undefined while its Redis is unavailable or must not be written to. */
  queue?: WorkQueue | undefined;
  /** Why it does not report its first incarnation; undefined if it does. */
  silence?: string | undefined;
  /** Limits how often a change of its first incarnation is accepted. */
  readonly changes: TokenBucket;
  /** The last change that was accepted, even if storing it failed at first. */
  acceptedIncarnation?: string;
  /** If true, the retry loop is pausing, and will ask for the first incarnation again by itself. */
  isRetrying?: boolean;
  readonly closed: AbortController;
}

/**
 * After a queue's first incarnation changes, every object is enqueued again. This lists the function's kinds again, and
 * other functions that watch them wait meanwhile. A function's Redis user can change the incarnation at any time, so
 * changes are rate-limited: five at once, then one every 15 s.
 */
const changeLimit = { burst: 5, perSecond: 1 / 15 };

/** Time without an answer after which a queue counts as silent. */
const replyTimeout: Milliseconds = 2_000;
const replyTimeoutError = (): Error => new Error(`Redis has not answered for ${replyTimeout} ms.`);
/** How long to wait for queues when they are closed. */
const closeTimeout: Milliseconds = 2_000;

export function openQueues(options: QueuesOptions): Queues {
  const { known, log } = options;
  const opened = new Map<string, RegisteredQueue>();
  const firstIncarnations = new Map<string, string>();
  /** The values that earlier bridges stored, updated with those reported since. */
  const recall = cacheWithTtl(async () => new Map(await known.all()), Infinity);
  const readFirstIncarnation = firstIncarnationReader(options, opened, firstIncarnations, recall);
  const open = (controller: string): void => {
    const changes = tokenBucket(changeLimit, () => performance.now());
    const one: RegisteredQueue = { controller, changes, closed: new AbortController() };
    opened.set(controller, one);
    void readFirstIncarnation(one);
  };
  const close = async (one: RegisteredQueue): Promise<void> => {
    opened.delete(one.controller);
    firstIncarnations.delete(one.controller);
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
    [...opened].flatMap(([name, { silence }]) =>
      firstIncarnations.has(name) ? [] : [[name, silence] as const],
    );
  return {
    firstIncarnations,
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
    unresponsive: () =>
      new Map(silences().flatMap(([name, why]) => (why === undefined ? [] : [[name, why] as const]))),
    close: async () => {
      await Promise.all([...opened.values()].map(close));
    },
  };
}

/** Never rejects: a queue that cannot be closed must not prevent others from being opened, closed or forgotten. */
async function closeQueue(one: RegisteredQueue): Promise<void> {
  const { queue } = one;
  one.queue = undefined;
  if (queue !== undefined) await waitAtMost(closeTimeout, Promise.allSettled([queue.close()]));
}

/**
 * Opens a queue on its Redis, and again on the next connection when that one is abandoned.
 * @throws TenantRedisError while its Redis is unavailable.
 */
const queueOpener =
  ({ redisFor, log }: QueuesOptions, read: (one: RegisteredQueue) => void) =>
  (one: RegisteredQueue): WorkQueue => {
    if (one.queue !== undefined) return one.queue;
    const { controller, closed } = one;
    const { redis, gone } = redisFor(controller);
    const queue = openWorkQueue({ redis, controller, log, onIncarnation: () => read(one) });
    one.queue = queue;
    const reopen = (): void => {
      one.silence = "The connection to its Redis was closed; a new one is opened.";
      one.isRetrying = false;
      void closeQueue(one);
      read(one);
    };
    gone.addEventListener("abort", reopen, { once: true, signal: closed.signal });
    return queue;
  };

/**
 * Opens a queue once its Redis is available, and asks for its first incarnation until it answers. Until then the last
 * stored value is used.
 */
function firstIncarnationReader(
  options: QueuesOptions,
  opened: ReadonlyMap<string, RegisteredQueue>,
  firstIncarnations: Map<string, string>,
  recall: () => Promise<Map<string, string>>,
) {
  const { known, log, again, onChange } = options;
  const openedQueue = queueOpener(options, (one) => void readFirstIncarnation(one));
  /** Returns false if the first incarnation changed more often than allowed: it must be asked for again. */
  const asked = async (one: RegisteredQueue): Promise<boolean> => {
    const { controller } = one;
    const firstIncarnation = await openedQueue(one).firstIncarnation();
    const isChange =
      firstIncarnations.has(controller) && firstIncarnations.get(controller) !== firstIncarnation;
    if (isChange && one.acceptedIncarnation !== firstIncarnation) {
      if (!one.changes.take()) {
        one.silence = undefined;
        return false;
      }
      one.acceptedIncarnation = firstIncarnation;
    }
    // Stored before it is used: a bridge that starts while the queue is silent must find it.
    await known.remember(controller, firstIncarnation);
    (await recall()).set(controller, firstIncarnation);
    if (opened.get(controller) !== one) return true;
    one.silence = undefined;
    const isNews = firstIncarnations.get(controller) !== firstIncarnation;
    firstIncarnations.set(controller, firstIncarnation);
    if (isNews) onChange();
    return true;
  };
  const silenced = async (one: RegisteredQueue, why: string): Promise<void> => {
    const { controller } = one;
    const isNew = one.silence === undefined;
    if (isNew) log.warn({ controller, why }, "A queue does not answer; trying again");
    one.silence = why;
    const before = (await recall()).get(controller);
    // It may have answered meanwhile.
    if (opened.get(controller) !== one || firstIncarnations.has(controller)) return;
    if (before !== undefined) firstIncarnations.set(controller, before);
    if (isNew || before !== undefined) onChange();
  };
  const readFirstIncarnation = async (one: RegisteredQueue): Promise<void> => {
    const { signal } = one.closed;
    // If the stored values cannot be read, the next turn tries again.
    const trouble = (error: unknown): void => void silenced(one, errorSummary(error)).catch(() => undefined);
    while (!isAborted(signal) && one.isRetrying !== true) {
      const late = setTimeout(trouble, replyTimeout, replyTimeoutError());
      try {
        if (await asked(one)) return;
      } catch (error) {
        if (!isAborted(signal)) trouble(error);
      } finally {
        clearTimeout(late);
      }
      one.isRetrying = true;
      await sleepUnlessAborted(again, signal);
      one.isRetrying = false;
    }
  };
  return readFirstIncarnation;
}
