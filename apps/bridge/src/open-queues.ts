import type { Log, Milliseconds } from "@drover/controller";
import { openWorkQueue, type RedisConnection, type WorkQueue } from "@drover/queue";

/** The queues of the registered controllers, and the origin of each. */
export interface Queues {
  /** These controllers there are: their queues are opened, those of others closed. */
  want(controllers: readonly string[]): void;
  readonly of: (controller: string) => WorkQueue;
  readonly all: () => readonly WorkQueue[];
  /** Of the queues that have told it. */
  readonly origins: ReadonlyMap<string, string>;
  problems(): readonly string[];
  close(): Promise<void>;
}

export interface QueuesOptions {
  readonly redis: RedisConnection;
  readonly log: Log;
  /** A queue that could not tell its origin is asked again after this time. */
  readonly again: Milliseconds;
  /** Another origin is known than before. */
  readonly onOrigin: () => void;
}

export function openQueues({ redis, log, again, onOrigin }: QueuesOptions): Queues {
  const queues = new Map<string, WorkQueue>();
  const origins = new Map<string, string>();
  const ask = async (queue: WorkQueue): Promise<void> => {
    const origin = await queue.origin();
    const { controller } = queue;
    if (queues.get(controller) !== queue || origins.get(controller) === origin) return;
    origins.set(controller, origin);
    onOrigin();
  };
  const learn = (queue: WorkQueue): void => {
    ask(queue).catch((error: unknown) => {
      log.warn(
        { err: error, controller: queue.controller },
        "Could not ask a queue for its origin; trying again",
      );
      setTimeout(learn, again, queue).unref();
    });
  };
  const open = (controller: string): void => {
    const queue: WorkQueue = openWorkQueue({ redis, controller, log, onIncarnation: () => learn(queue) });
    queues.set(controller, queue);
    learn(queue);
  };
  const close = async (queue: WorkQueue): Promise<void> => {
    queues.delete(queue.controller);
    origins.delete(queue.controller);
    await queue.close();
  };
  return {
    origins,
    want(controllers) {
      for (const controller of controllers) if (!queues.has(controller)) open(controller);
      for (const queue of queues.values()) {
        if (controllers.includes(queue.controller)) continue;
        close(queue).catch((error: unknown) => {
          log.warn(
            { err: error, controller: queue.controller },
            "Could not close the queue of a controller that is gone",
          );
        });
      }
    },
    of(controller) {
      const queue = queues.get(controller);
      if (queue === undefined) throw new Error(`The controller ${controller} is not registered any more.`);
      return queue;
    },
    all: () => [...queues.values()],
    problems: () =>
      [...queues.keys()]
        .filter((name) => !origins.has(name))
        .map((name) => `the queue of ${name} is not open yet`),
    close: async () => {
      await Promise.all([...queues.values()].map(close));
    },
  };
}
