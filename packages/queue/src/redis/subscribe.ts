import type { Milliseconds } from "@drover/controller";
import { type CancelTimer, repeatEvery, processTimers, type Timers } from "@drover/timers";
import { Cluster, type Redis } from "ioredis";
import type { EventEmitter } from "node:events";
import type { ChannelSubscription } from "../ledger/ledger.ts";
import type { RedisConnection } from "./redis-servers.ts";

/** How often a connection that only subscribes is checked: a machine that vanished does not close its connections. */
const pingInterval: Milliseconds = 5_000;
/** Pause before subscribing on another node: ioredis does not reopen a node's connection. */
const resubscribePause: Milliseconds = 500;

/** The part of an ioredis connection that is used. Events: `message`, `reconnecting`, `end`, `error`. */
export interface PubSubConnection extends EventEmitter {
  subscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(): void;
}

export interface SubscribeParts {
  /** Opens a connection; undefined if no server is known at present. */
  readonly connect: () => PubSubConnection | undefined;
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  readonly timers: Timers;
}

/**
 * Receives the messages of a channel, on a connection of its own; on a cluster from any node, since all nodes deliver
 * all messages. Messages that are published while the connection is down are lost.
 */
export const subscribe = (
  redis: RedisConnection,
  channel: string,
  onMessage: (message: string) => void,
  timers = processTimers,
): ChannelSubscription =>
  subscribeOver({ connect: () => duplicateConnection(redis), channel, onMessage, timers });

/** The same, on the connections that `connect` opens. */
export function subscribeOver({ connect, channel, onMessage, timers }: SubscribeParts): ChannelSubscription {
  let connection: PubSubConnection | undefined;
  let subscribed: Promise<unknown> = Promise.resolve();
  let isSubscribing = false;
  /** True if Redis has refused the subscription: the user lacks the permission at present. */
  let isRefused = false;
  let stopped = false;
  // This connection fails when the one that it duplicates does, and for that one `logOutages` logs it.
  const ignore = (): undefined => undefined;
  let cancelOpening: CancelTimer = ignore;
  const openLater = (): void => {
    if (!stopped) cancelOpening = timers.after(resubscribePause, "listening to another node", open);
  };
  const open = (): void => {
    connection = connect();
    if (!connection) {
      openLater();
      return;
    }
    connection.on("error", ignore).on("message", (_channel, message: string) => onMessage(message));
    connection.once("end", openLater);
    connection.on("reconnecting", resubscribe);
    isSubscribing = false;
    resubscribe();
  };
  const resubscribe = (): void => {
    if (isSubscribing || !connection) return; // ioredis sends an unanswered command again
    isSubscribing = true;
    const subscriptionEnded = (accepted: boolean) => (): void => {
      isSubscribing = false;
      isRefused = !accepted;
    };
    subscribed = connection.subscribe(channel).then(subscriptionEnded(true), subscriptionEnded(false));
  };
  open();
  const caughtUp = async (): Promise<void> => {
    await connection?.ping();
    await subscribed; // a later one, if the connection broke meanwhile
  };
  const stopPings = repeatEvery(timers, pingInterval, "asking a connection that listens", () => {
    if (isRefused) resubscribe();
    void caughtUp().catch(ignore);
  });
  return {
    caughtUp,
    stop() {
      stopped = true;
      stopPings();
      cancelOpening();
      connection?.disconnect();
    },
  };
}

/** Opens a connection like this one; on a cluster to one of its primaries, undefined if none is known at present. */
function duplicateConnection(redis: RedisConnection): Redis | undefined {
  // If the connection closes while ioredis resubscribes by itself, the rejection is unhandled and ends the process.
  const options = { autoResubscribe: false };
  if (!(redis instanceof Cluster)) return redis.duplicate(options);
  const nodes = redis.nodes("master");
  return nodes[Math.floor(Math.random() * nodes.length)]?.duplicate(options);
}
