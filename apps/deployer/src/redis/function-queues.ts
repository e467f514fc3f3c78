import { waitAtMost } from "@drover/timers";
import {
  type FunctionIdentity,
  type Log,
  namesQueueOf,
  type QueueName,
  queueOf,
  type ReconcileFunctionSpec,
} from "@drover/controller";
import { openWorkQueue, type RedisConnection, type WorkQueue } from "@drover/queue";
import { type TenantRedis } from "@drover/runtime";
import type { QueueLoad } from "../scaling/pods-wanted.ts";

/** The queues of functions. Each is opened on first use. */
export interface FunctionQueues {
  /** @throws TenantRedisError while its Redis is not available. */
  open(queue: QueueName): WorkQueue;
  /**
   * The load of a function, summed over all its queues. In the deployer's own queue, the calling run is not counted.
   */
  load(identity: FunctionIdentity, spec: ReconcileFunctionSpec): Promise<FunctionLoad>;
  /** Closes all queues except those of these functions, and the deployer's own. */
  closeAllExcept(functions: readonly FunctionWithSpec[]): void;
  /** Closes the queues of a function that is being deleted, because an open queue writes to Redis. */
  closeQueuesOf(identity: FunctionIdentity, spec: ReconcileFunctionSpec): Promise<void>;
  close(): Promise<void>;
}

export interface FunctionWithSpec {
  readonly identity: FunctionIdentity;
  readonly spec: ReconcileFunctionSpec;
}

export interface FunctionLoad extends QueueLoad {
  readonly parked: number;
  readonly failing: number;
  /** Keys that would be due, but are paused. */
  readonly paused: number;
  /** True if the queue of its objects is paused for all keys. */
  readonly allPaused: boolean;
}

/** All queues of a function: that of its objects, and one for each watched kind that its code maps to objects. */
export function queuesOf(
  identity: FunctionIdentity,
  { watches = [] }: ReconcileFunctionSpec,
): readonly QueueName[] {
  const own = queueOf(identity);
  return [own, ...watches.filter(({ names }) => names.code === true).map((kind) => namesQueueOf(own, kind))];
}

const replyTimeout = 2_000;
/** Timeout for closing a queue, since its Redis may not be available. */
const closeTimeout = 2_000;

interface OpenQueue {
  readonly queue: WorkQueue;
  readonly redis: RedisConnection;
}

interface FunctionQueuesOptions {
  /** Returns the Redis of a queue. */
  readonly redisFor: TenantRedis["redisFor"];
  /** The deployer's own queue, with ReconcileFunctions as keys. It stays open. */
  readonly ownQueue: QueueName;
  readonly log: Log;
  /**
   * Called when a queue's Redis is another server, or has other data, than before: the users of functions may be
   * missing there.
   */
  readonly onIncarnation: (queue: QueueName) => void;
}

export function openFunctionQueues(options: FunctionQueuesOptions): FunctionQueues {
  const { ownQueue } = options;
  const { of: open, closeThose, report } = openQueues(options);
  return {
    open,
    async load(identity, spec) {
      const names = queuesOf(identity, spec);
      const [first, ...others] = await Promise.all(names.map((queue) => open(queue).stats(replyTimeout)));
      if (first === undefined) throw new Error(`${identity.name} has no queue.`);
      const without =
        queueOf(identity) === ownQueue ? { ...first, running: Math.max(0, first.running - 1) } : first;
      return [without, ...others].reduce((sum, one) => ({
        ...sum,
        due: sum.due + one.due,
        oldestDue: Math.max(sum.oldestDue, one.oldestDue),
        running: sum.running + one.running,
        parked: sum.parked + one.parked,
        failing: sum.failing + one.failing,
        paused: sum.paused + one.paused,
      }));
    },
    closeAllExcept(functions) {
      const kept = new Set([
        ownQueue,
        ...functions.flatMap(({ identity, spec }) => queuesOf(identity, spec)),
      ]);
      // Not awaited, because a Redis may not be available.
      closeThose((queue) => !kept.has(queue)).catch(report);
    },
    async closeQueuesOf(identity, spec) {
      const left = new Set(queuesOf(identity, spec));
      await closeThose((queue) => left.has(queue));
    },
    close: () => closeThose(() => true),
  };
}

/** Opens each queue on first use, and closes it when its connection to Redis is given up. */
function openQueues({ redisFor, log, onIncarnation }: Omit<FunctionQueuesOptions, "ownQueue">) {
  const open = new Map<QueueName, OpenQueue>();
  const close = async (name: QueueName): Promise<void> => {
    const left = open.get(name);
    open.delete(name);
    if (left !== undefined) await waitAtMost(closeTimeout, left.queue.close());
  };
  const of = (controller: QueueName): WorkQueue => {
    const { redis, gone } = redisFor(controller);
    const known = open.get(controller);
    if (known?.redis === redis) return known.queue;
    const queue = openWorkQueue({
      redis,
      controller,
      log,
      upkeep: "none",
      onIncarnation: () => onIncarnation(controller),
    });
    const one = { queue, redis };
    open.set(controller, one);
    gone.addEventListener(
      "abort",
      () => open.get(controller) === one && void close(controller).catch(report),
    );
    return queue;
  };
  const report = (error: unknown): void =>
    log.warn({ err: error }, "Could not close the queue of a function");
  const closeThose = async (isMeant: (queue: QueueName) => boolean): Promise<void> => {
    await Promise.all([...open.keys()].filter(isMeant).map(close));
  };
  return { of, closeThose, report };
}
