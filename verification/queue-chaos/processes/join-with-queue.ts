import type { Log } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue, UnfitRedisError, type WorkQueue } from "@drover/queue";
import { setTimeout as delay } from "node:timers/promises";
import { deadlyCommands } from "./deadly-commands.ts";
import type { Order } from "./messages.ts";
import { joinWorld, type WorldClient } from "./world-client.ts";

export interface OpenedQueue {
  readonly queue: WorkQueue;
  close(): Promise<void>;
}

const line =
  (level: string) =>
  (fields: object, message: string): void =>
    void process.stderr.write(
      `${JSON.stringify({ level, at: new Date().toISOString(), message, ...fields }, readable)}\n`,
    );
const readable = (_: string, value: unknown): unknown => (value instanceof Error ? value.stack : value);
const log: Log = { debug: () => undefined, info: line("info"), warn: line("warn"), error: line("error") };

/** A process that has joined the world, which may kill it at any command to Redis. */
export interface JoinedProcess {
  readonly world: WorldClient;
  readonly order: Extract<Order, { order: "open" }>;
  readonly opened: OpenedQueue;
}

/** Joins the world whose port is the first argument of this process, under the name that is the second one. */
export async function joinWithQueue(): Promise<JoinedProcess> {
  const [port, name = ""] = process.argv.slice(2);
  const world = await joinWorld(Number(port), name);
  const deadly = deadlyCommands(() => world.report({ fact: "dying" }));
  const order = await world.next("open");
  if (order.dies !== undefined) deadly.dieAt(order.dies);
  world.on("die", ({ dies }) => deadly.dieAt(dies));
  world.on("live", () => deadly.live());
  return { world, order, opened: await openQueue(world, order, name) };
}

/** Opens the queue as Drover's processes do, and answers what the world asks about it. */
async function openQueue(
  world: WorldClient,
  order: Extract<Order, { order: "open" }>,
  name: string,
): Promise<OpenedQueue> {
  const redis = await connected(world, order.redisUrl, name);
  const queue = openWorkQueue({
    redis,
    controller: order.controller,
    log,
    times: order.times,
    onIncarnation: (incarnation) => world.report({ fact: "lost", incarnation }),
  });
  world.on("count", ({ id }) => {
    queue.stats(2_000).then(
      ({ due, scheduled, running, parked }) =>
        world.report({ fact: "counted", id, stats: { due, scheduled, running, parked } }),
      () => world.report({ fact: "counted", id }),
    );
  });
  return {
    queue,
    async close() {
      await queue.close();
      await disconnectRedis(redis);
    },
  };
}

/** A process that may not use this Redis exits and is restarted by its supervisor: here it tries again. */
async function connected(world: WorldClient, url: string, name: string) {
  for (;;) {
    try {
      return await connectRedis({ url, clientName: name, log });
    } catch (error) {
      if (!(error instanceof UnfitRedisError)) throw error;
      world.report({ fact: "unfit", error: error.message });
      await delay(100);
    }
  }
}
