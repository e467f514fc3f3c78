import type { Milliseconds } from "@drover/controller";
import { type CancelTimer, every, processTimers, type Timers } from "@drover/timers";
import { Cluster, type Redis } from "ioredis";
import type { EventEmitter } from "node:events";
import type { Listening } from "./ledger.ts";
import type { RedisConnection } from "./redis-connection.ts";

/** How often a connection that only subscribes is checked: a machine that vanished does not close its connections. */
const asked: Milliseconds = 5_000;
/** Pause before subscribing on another node: ioredis does not reopen a node's connection. */
const again: Milliseconds = 500;

/** The part of an ioredis connection that is used. Events: `message`, `reconnecting`, `end`, `error`. */
export interface ListeningConnection extends EventEmitter {
  subscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(): void;
}

export interface ListeningParts {
  /** Opens a connection; undefined if no server is known at present. */
  readonly connect: () => ListeningConnection | undefined;
  readonly channel: string;
  readonly heard: (message: string) => void;
  readonly timers: Timers;
}

/**
 * Receives the messages of a channel, on a connection of its own; on a cluster from any node, since all nodes deliver
 * all messages. Messages that are published while the connection is down are lost.
 */
export const subscribe = (
  redis: RedisConnection,
  channel: string,
  heard: (message: string) => void,
  timers = processTimers,
): Listening => listenOn({ connect: () => another(redis), channel, heard, timers });

/** The same, on the connections that `connect` opens. */
export function listenOn({ connect, channel, heard, timers }: ListeningParts): Listening {
  let connection: ListeningConnection | undefined;
  let subscribed: Promise<unknown> = Promise.resolve();
  let isAsking = false;
  /** True if Redis has refused the subscription: the user lacks the permission at present. */
  let isDeaf = false;
  let stopped = false;
  // This connection fails when the one that it duplicates does, and for that one `logOutages` logs it.
  const ignore = (): undefined => undefined;
  let cancelOpening: CancelTimer = ignore;
  const openLater = (): void => {
    if (!stopped) cancelOpening = timers.after(again, "listening to another node", open);
  };
  const open = (): void => {
    connection = connect();
    if (!connection) {
      openLater();
      return;
    }
    connection.on("error", ignore).on("message", (_channel, message: string) => heard(message));
    connection.once("end", openLater);
    connection.on("reconnecting", ask);
    isAsking = false;
    ask();
  };
  const ask = (): void => {
    if (isAsking || !connection) return; // ioredis sends an unanswered command again
    isAsking = true;
    const answered = (hears: boolean) => (): void => {
      isAsking = false;
      isDeaf = !hears;
    };
    subscribed = connection.subscribe(channel).then(answered(true), answered(false));
  };
  open();
  const caughtUp = async (): Promise<void> => {
    await connection?.ping();
    await subscribed; // a later one, if the connection broke meanwhile
  };
  const stopAsking = every(timers, asked, "asking a connection that listens", () => {
    if (isDeaf) ask();
    void caughtUp().catch(ignore);
  });
  return {
    caughtUp,
    stop() {
      stopped = true;
      stopAsking();
      cancelOpening();
      connection?.disconnect();
    },
  };
}

/** Opens a connection like this one; on a cluster to one of its primaries, undefined if none is known at present. */
function another(redis: RedisConnection): Redis | undefined {
  // If the connection closes while ioredis resubscribes by itself, the rejection is unhandled and ends the process.
  const options = { autoResubscribe: false };
  if (!(redis instanceof Cluster)) return redis.duplicate(options);
  const nodes = redis.nodes("master");
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate(options);
}
