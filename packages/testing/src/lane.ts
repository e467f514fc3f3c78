import {
  type Announcement,
  type Controller,
  isInCode,
  type Log,
  type Milliseconds,
  namesQueueOf,
  queueOf,
  reconcileFunctionOf,
} from "@drover/controller";
import { openSteppedQueue, type Run, type SteppedQueue, type Verdict } from "@drover/queue";
import { nameOnce, reconcileOnce } from "@drover/runtime";
import { type Follower, followsOf } from "@drover/streams";
import type { Life } from "./life.ts";
import { memoryNamedKeys } from "./memory-named-keys.ts";

/** A queue, and what is done with its keys by whatever process is alive. */
export interface Lane {
  readonly controller: string;
  readonly queue: SteppedQueue;
  perform(life: Life, run: Run): Promise<Verdict>;
}

export interface LaneOptions {
  readonly now: () => Milliseconds;
  readonly random: () => number;
  readonly log: Log;
  /** Told of what is announced of an object, as Events. */
  readonly announced: (announcement: Announcement) => void;
}

/** What a controller follows, as it declares it. */
export function followerOf(controller: Controller): Follower {
  const { name } = controller;
  const queue = queueOf({ name });
  return { controller: queue, follows: followsOf({ name, queue }, reconcileFunctionOf(controller).spec) };
}

/** The lanes of a controller: its own keys, and those of the objects about which its code is asked. */
export async function lanesOf(controller: Controller, options: LaneOptions): Promise<readonly Lane[]> {
  const { now, random, log, announced } = options;
  const { name, retry: backoff } = controller;
  const open = (queue: string) => openSteppedQueue({ controller: queue, backoff, now, random });
  const queueName = queueOf({ name });
  const own = await open(queueName);
  const asking = controller.watches.filter(isInCode).map(async ({ kind }): Promise<Lane> => {
    const queue = await open(namesQueueOf(queueName, kind));
    const named = memoryNamedKeys();
    return {
      controller: name,
      queue,
      perform(life, run) {
        const watched = livingOf(life, name)
          .watches.filter(isInCode)
          .find((one) => one.kind.kind === kind.kind);
        if (watched === undefined) throw new Error(`${name} watches no ${kind.kind} in its next life.`);
        return nameOnce({ watched, client: life.client, queue: own, named, log }, run);
      },
    };
  });
  const reconciling: Lane = {
    controller: name,
    queue: own,
    perform: (life, run) =>
      reconcileOnce(
        {
          controller: livingOf(life, name),
          client: life.client,
          log,
          announce: (_, announcement) => announced(announcement),
          now: () => new Date(now()),
          random,
        },
        run,
      ),
  };
  return [reconciling, ...(await Promise.all(asking))];
}

function livingOf({ controllers }: Life, name: string): Controller {
  const found = controllers.find((controller) => controller.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `The controller ${name} is not there in the function's next life: make the same ones every time.`,
  );
}
