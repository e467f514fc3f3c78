import type { Milliseconds } from "@drover/controller";
import { processTimers } from "@drover/timers";
import type { ClusterOptions, CommonRedisOptions } from "ioredis";
import { isTransientError } from "./redis-errors.ts";

/** Quick reconnects: with ioredis's default, a queue came back up to 18 s after its server. */
const firstReconnect: Milliseconds = 50;
const slowestReconnect: Milliseconds = 500;
/**
 * How long a connection may take. A packet to the address of a Pod that is gone is dropped, and nothing answers. Longer
 * than the second after which the kernel sends a lost packet again.
 */
const connectTimeout: Milliseconds = 3_000;
/** How often a server that loads its data is checked for being ready. */
const loadingPoll: Milliseconds = 200;
/** Pause before a command that a cluster cannot take now is sent again. */
const clusterRetry: Milliseconds = 100;
/** Pause before a MOVED is followed: two nodes that redirect to each other must not cause a busy loop. */
const movedRetry: Milliseconds = 20;
/** How often a cluster's slot map is read, so that a failover is noticed even if commands do not fail but hang. */
const slotsRefresh: Milliseconds = 1_000;

export interface ReconnectSettings {
  readonly clientName: string;
  readonly socketTimeout: Milliseconds;
}

/**
 * Options with which a connection to one server survives outages: commands wait while the server is away or loads its
 * data, and unanswered commands are sent again.
 *
 * A server that was demoted to a replica stays connected, until it refuses a write. Then the client connects again, and
 * gets to the new primary if the address leads there.
 */
export function reconnectOptions({ clientName, socketTimeout }: ReconnectSettings, timers = processTimers) {
  let refusals = 0;
  let refusedAt = -Infinity;
  return {
    ...commonOptions(clientName, socketTimeout),
    // 2: connect again, then send the command again.
    reconnectOnError(error: Error): 2 | false {
      if (!isTransientError(error)) return false;
      refusedAt = timers.now();
      return 2;
    },
    // A replica is ready at once, which resets `attempt`: without a count of refusals, this would be a busy loop.
    retryStrategy(attempt: number): Milliseconds {
      const refused = timers.now() - refusedAt < 2 * slowestReconnect;
      refusals = refused ? refusals + 1 : 0;
      return Math.min(firstReconnect * Math.max(attempt, refusals), slowestReconnect);
    },
  } satisfies CommonRedisOptions;
}

/** The same for a cluster, where a command is sent again to the node that serves its slot by then. */
export function clusterReconnectOptions({ clientName, socketTimeout }: ReconnectSettings) {
  return {
    // Commands wait on CLUSTERDOWN anyway. With this check, ioredis's connect() neither resolves nor rejects while the
    // cluster's state is not ok. BullMQ's worker calls it after 6 s without an answer, would wait for it forever, and
    // would take no more jobs.
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
      ...commonOptions(clientName, socketTimeout),
      // A node's connection is not reopened but closed, and then the cluster client sends the command again.
      reconnectOnError: (error: Error): 2 | false => (isTransientError(error) ? 2 : false),
    },
  } satisfies ClusterOptions;
}

const commonOptions = (clientName: string, socketTimeout: Milliseconds) => ({
  connectionName: clientName,
  connectTimeout,
  // Redis 7.0 does not have CLIENT SETINFO, and its use takes one more permission.
  disableClientInfo: true,
  maxRetriesPerRequest: null,
  maxLoadingRetryTime: loadingPoll,
  socketTimeout,
});
