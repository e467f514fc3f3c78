import type { Milliseconds } from "@drover/controller";
import { processTimers } from "@drover/timers";
import type { ClusterOptions, CommonRedisOptions } from "ioredis";
import { isPassing } from "./redis-errors.ts";

/** Reconnect quickly: with ioredis's default a queue came back up to 18 s after the server did. */
const firstReconnect: Milliseconds = 50;
const slowestReconnect: Milliseconds = 500;
/** How often a server that loads its data is asked whether it is done. */
const loadingPoll: Milliseconds = 200;
/** A command that a cluster cannot take now is sent again after this time. */
const clusterRetry: Milliseconds = 100;
/** A MOVED is followed after this time: two nodes that send us to each other must not make us spin. */
const movedRetry: Milliseconds = 20;
/** How often a cluster is asked who serves what, so that a failover is noticed where nothing fails but nothing answers. */
const slotsRefresh: Milliseconds = 1_000;

export interface Steadfastness {
  readonly clientName: string;
  readonly silence: Milliseconds;
}

/**
 * How a connection to one server outlasts what comes: commands wait while the server is away or loads its data, and what
 * was not answered is sent again.
 *
 * A server that was demoted to a replica stays connected. It gives itself away by refusing a write; then we connect
 * again, and an address that leads to its successor leads us there.
 */
export function steadfastOptions({ clientName, silence }: Steadfastness, timers = processTimers) {
  let refusals = 0;
  let refusedAt = -Infinity;
  return {
    ...common(clientName, silence),
    // 2: connect again, then send the command again.
    reconnectOnError(error: Error): 2 | false {
      if (!isPassing(error)) return false;
      refusedAt = timers.now();
      return 2;
    },
    // A replica is ready at once: without a count of its own, this would be a hot loop.
    retryStrategy(attempt: number): Milliseconds {
      const refused = timers.now() - refusedAt < 2 * slowestReconnect;
      refusals = refused ? refusals + 1 : 0;
      return Math.min(firstReconnect * Math.max(attempt, refusals), slowestReconnect);
    },
  } satisfies CommonRedisOptions;
}

/** The same for a cluster, where a command is sent again to whoever serves its slot by then. */
export function steadfastClusterOptions({ clientName, silence }: Steadfastness) {
  return {
    // CLUSTERDOWN makes each command wait by itself. With this check, ioredis's connect() neither resolves nor rejects
    // while the cluster's state is not ok, and BullMQ's worker, which connects anew after 6 s without an answer, waits
    // for it for ever: it stands still for good.
    enableReadyCheck: false,
    clusterRetryStrategy: (attempt: number): Milliseconds =>
      Math.min(firstReconnect * attempt, slowestReconnect),
    maxRedirections: Infinity,
    retryDelayOnMoved: movedRetry,
    retryDelayOnFailover: clusterRetry,
    retryDelayOnClusterDown: clusterRetry,
    retryDelayOnTryAgain: clusterRetry,
    slotsRefreshInterval: slotsRefresh,
    slotsRefreshTimeout: slotsRefresh,
    redisOptions: {
      ...common(clientName, silence),
      // A node's connection is not opened again but given up, which makes the cluster send the command anew.
      reconnectOnError: (error: Error): 2 | false => (isPassing(error) ? 2 : false),
    },
  } satisfies ClusterOptions;
}

const common = (clientName: string, silence: Milliseconds) => ({
  connectionName: clientName,
  // CLIENT SETINFO is not known to Redis 7.0, and one more permission to grant.
  disableClientInfo: true,
  maxRetriesPerRequest: null,
  maxLoadingRetryTime: loadingPoll,
  socketTimeout: silence,
});
