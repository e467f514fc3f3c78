import type { Milliseconds } from "@drover/controller";
import { type CancelTimer, every, processTimers, type Timers } from "@drover/timers";
import { Cluster, type Redis } from "ioredis";
import type { EventEmitter } from "node:events";
import type { Listening } from "./ledger.ts";
import type { RedisConnection } from "./redis-connection.ts";

/** A connection that only listens is asked that often whether it is still there: a machine that vanished closes nothing. */
const asked: Milliseconds = 5_000;
/** A node's connection is not opened again by ioredis; after this time another node is listened to. */
const again: Milliseconds = 500;

/** What listening needs of a connection of ioredis. Events: `message`, `reconnecting`, `end`, `error`. */
export interface ListeningConnection extends EventEmitter {
  subscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(): void;
}

export interface ListeningParts {
  /** A new connection; undefined where there is no server to connect to at present. */
  readonly connect: () => ListeningConnection | undefined;
  readonly channel: string;
  readonly heard: (message: string) => void;
  readonly timers: Timers;
}

/**
 * Hears what is published on a channel, on a connection of its own: on a cluster to any node, since all tell the same.
 * What is published while it is away is not heard.
 */
export const subscribe = (
  redis: RedisConnection,
  channel: string,
  heard: (message: string) => void,
  timers = processTimers,
): Listening => listenOn({ connect: () => another(redis), channel, heard, timers });

/** The same on any connection. */
export function listenOn({ connect, channel, heard, timers }: ListeningParts): Listening {
  let connection: ListeningConnection | undefined;
  let subscribed: Promise<unknown> = Promise.resolve();
  let isAsking = false;
  /** Redis has refused it: we may not, at present. */
  let isDeaf = false;
  let stopped = false;
  // It fails when the other one does, and that one says so.
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
    if (isAsking || !connection) return; // what was not answered is sent again
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
    await subscribed; // anew, where the connection broke meanwhile
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

/** A connection like this one; on a cluster to one of its nodes, undefined where none is known at present. */
function another(redis: RedisConnection): Redis | undefined {
  // ioredis's own subscribing again fails where nobody can hear it when the connection is closed meanwhile, and takes the process along.
  const options = { autoResubscribe: false };
  if (!(redis instanceof Cluster)) return redis.duplicate(options);
  const nodes = redis.nodes("master");
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate(options);
}
