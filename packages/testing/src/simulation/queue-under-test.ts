import {
  type Announcement,
  type Controller,
  hasNamesInCode,
  type Log,
  type Milliseconds,
  namesQueueOf,
  queueOf,
  reconcileFunctionOf,
} from "@drover/controller";
import type { Run, RunOutcome } from "@drover/queue";
import { openSteppedQueue, type SteppedQueue } from "@drover/queue/memory";
import { mapOnce, reconcileOnce } from "@drover/runtime";
import { type Follower, followsOf } from "@drover/bridge";
import type { FunctionProcess } from "../process/function-process.ts";
import { memoryNamedKeys } from "./memory-named-keys.ts";

/** A queue, and what is done with its keys by whatever process is alive. */
export interface QueueUnderTest {
  readonly controller: string;
  readonly queue: SteppedQueue;
  perform(process: FunctionProcess, run: Run): Promise<RunOutcome>;
}

export interface QueueUnderTestOptions {
  readonly now: () => Milliseconds;
  readonly random: () => number;
  readonly log: Log;
  /** Told of what is announced of an object, as Events. */
  readonly onAnnouncement: (announcement: Announcement) => void;
}

/** The kinds that a controller follows: by its definition, or by the ReconcileFunction of a called function. */
export function followerOf(controller: Controller, called: FunctionProcess["called"]): Follower {
  const { name } = controller;
  const queue = queueOf({ name });
  const { spec } = called ?? reconcileFunctionOf(controller);
  return { controller: queue, follows: followsOf({ name, queue }, spec) };
}

/** The queues of a controller: its own keys, and those of the objects about which its code is asked. */
export async function queuesUnderTest(
  controller: Controller,
  options: QueueUnderTestOptions,
): Promise<readonly QueueUnderTest[]> {
  const { now, random, log, onAnnouncement } = options;
  const { name, retry: backoff } = controller;
  const open = (queue: string) => openSteppedQueue({ controller: queue, backoff, now, random });
  const queueName = queueOf({ name });
  const own = await open(queueName);
  const asking = controller.watches.filter(hasNamesInCode).map(async ({ kind }): Promise<QueueUnderTest> => {
    const queue = await open(namesQueueOf(queueName, kind));
    const named = memoryNamedKeys();
    return {
      controller: name,
      queue,
      perform(process, run) {
        const watched = process
          .controllerFor(name, run)
          .watches.filter(hasNamesInCode)
          .find((one) => one.kind.kind === kind.kind);
        if (watched === undefined) throw new Error(`${name} watches no ${kind.kind} in its next process.`);
        return mapOnce({ watched, client: process.client, queue: own, named, log }, run);
      },
    };
  });
  const reconciling: QueueUnderTest = {
    controller: name,
    queue: own,
    perform: (process, run) =>
      reconcileOnce(
        {
          controller: process.controllerFor(name, run),
          client: process.client,
          log,
          announce: (_, announcement) => onAnnouncement(announcement),
          now: () => new Date(now()),
          random,
        },
        run,
      ),
  };
  return [reconciling, ...(await Promise.all(asking))];
}
