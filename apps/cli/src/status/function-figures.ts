import { type Milliseconds, queueOf } from "@drover/controller";
import { queuesOf } from "@drover/deployer";
import type { QueueStats, RedisConnection } from "@drover/queue";
import type { DeployedFunction } from "../deployed-functions.ts";
import { hasQueue, whileOpen } from "../find-object.ts";

/** The number of a function's keys in each state; undefined if not known. */
export interface FunctionFigures {
  readonly due?: number | undefined;
  readonly running?: number | undefined;
  /** Keys that wait for a time. */
  readonly waiting?: number | undefined;
  readonly failing?: number | undefined;
  readonly parked?: number | undefined;
  /** Keys that would be due, but are paused. */
  readonly paused?: number | undefined;
  readonly oldestDueSeconds?: number | undefined;
}

const replyTimeout: Milliseconds = 5_000;

/** The live counts in Redis, over all queues of the function. Undefined if its queue is not in this Redis. */
export async function liveFigures(
  redis: RedisConnection,
  fn: DeployedFunction,
): Promise<FunctionFigures | undefined> {
  if (!(await hasQueue(redis, fn))) return undefined;
  const { identity, spec } = fn;
  const names = spec === undefined ? [queueOf(identity)] : queuesOf(identity, spec);
  const all = await Promise.all(
    names.map((name) => whileOpen(redis, name, (queue) => queue.stats(replyTimeout))),
  );
  const sum = (of: (stats: QueueStats) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    due: sum(({ due }) => due),
    running: sum(({ running }) => running),
    waiting: sum(({ scheduled }) => scheduled),
    failing: sum(({ failing }) => failing),
    parked: sum(({ parked }) => parked),
    paused: sum(({ paused }) => paused),
    oldestDueSeconds: Math.floor(Math.max(...all.map(({ oldestDue }) => oldestDue)) / 1_000),
  };
}

/** The counts that the deployer wrote last into the function's status. */
export const reportedFigures = ({ status }: DeployedFunction): FunctionFigures => {
  const { due, running, failing, parked, pausedKeys: paused, oldestDueSeconds } = status;
  return { due, running, failing, parked, paused, oldestDueSeconds };
};
