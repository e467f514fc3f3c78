import { type Log, namesQueueOf, type ReconcileFunctionSpec } from "@drover/controller";
import { openWorkQueue, type RedisConnection, type WorkQueue } from "@drover/queue";
import type { Load } from "./pods-wanted.ts";

/** The queues of functions, open for as long as they are asked about. */
export interface FunctionQueues {
  of(name: string): WorkQueue;
  /** What is to be done of a function, in all its queues; but for the run that asks, where that is one of them. */
  load(name: string, spec: ReconcileFunctionSpec): Promise<FunctionLoad>;
  /** Keeps the queues of these functions, and closes those of others. */
  keep(functions: readonly { readonly name: string; readonly spec: ReconcileFunctionSpec }[]): Promise<void>;
  close(): Promise<void>;
}

export interface FunctionLoad extends Load {
  readonly parked: number;
  readonly failing: number;
}

/** All queues that a function works on: its objects', and those of the watched ones that its code is asked about. */
export const queuesOf = (name: string, { watches = [] }: ReconcileFunctionSpec): readonly string[] => [
  name,
  ...watches.filter(({ names }) => names.code === true).map((kind) => namesQueueOf(name, kind)),
];

const answerWithin = 2_000;

/**
 * @param own the queue of functions themselves; it stays open.
 * @param onIncarnation told of a function whose Redis is another one than before: it may know nobody's user any more.
 */
export function openFunctionQueues(options: {
  readonly redis: RedisConnection;
  readonly own: string;
  readonly log: Log;
  readonly onIncarnation: (name: string) => void;
}): FunctionQueues {
  const { redis, own, log, onIncarnation } = options;
  const open = new Map<string, WorkQueue>();
  const of = (controller: string): WorkQueue => {
    const known = open.get(controller);
    if (known !== undefined) return known;
    const queue = openWorkQueue({
      ...{ redis, controller, log, mayScan: false },
      onIncarnation: () => onIncarnation(controller),
    });
    open.set(controller, queue);
    return queue;
  };
  const closeOthers = async (wanted: ReadonlySet<string>): Promise<void> => {
    const others = [...open].filter(([name]) => !wanted.has(name));
    for (const [name] of others) open.delete(name);
    await Promise.all(others.map(([, queue]) => queue.close()));
  };
  return {
    of,
    async load(name, spec) {
      const [first, ...names] = await Promise.all(
        queuesOf(name, spec).map((queue) => of(queue).stats(answerWithin)),
      );
      if (first === undefined) throw new Error(`${name} has no queue.`);
      const others = name === own ? { ...first, running: Math.max(0, first.running - 1) } : first;
      return [others, ...names].reduce((sum, one) => ({
        ...sum,
        due: sum.due + one.due,
        oldestDue: Math.max(sum.oldestDue, one.oldestDue),
        running: sum.running + one.running,
        parked: sum.parked + one.parked,
        failing: sum.failing + one.failing,
      }));
    },
    keep: (functions) =>
      closeOthers(new Set([own, ...functions.flatMap(({ name, spec }) => queuesOf(name, spec))])),
    close: () => closeOthers(new Set()),
  };
}
