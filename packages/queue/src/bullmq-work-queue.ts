import type { Log } from "@drover/controller";
import { Cluster } from "ioredis";
import { bullmqBells } from "./bullmq-bells.ts";
import { openLedgerWorkQueue, type QueueTimes } from "./ledger-work-queue.ts";
import { ledgerKeys } from "./ledger-keys.ts";
import { patrol } from "./patrol.ts";
import { prefixOf } from "./prefix-of.ts";
import type { RedisConnection } from "./redis-connection.ts";
import { openRedisLedger } from "./redis-ledger.ts";
import { scriptsMissing } from "./run-script.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface WorkQueueOptions {
  /** From `connectRedis`; stays open when the queue is closed: whoever opens closes. */
  readonly redis: RedisConnection;
  /** The controller's name. */
  readonly controller: string;
  readonly log: Log;
  readonly times?: Partial<QueueTimes>;
  /**
   * Told when Redis was restarted, replaced or emptied, so that acknowledged wakes may be lost: whoever knows what there
   * is (a bridge) wakes it again.
   */
  readonly onIncarnation?: (era: string) => void;
  /**
   * What the queue does unasked, about once a second:
   *
   * - `all`, the default: rings for keys whose time has come, and looks after the ledger in Redis. Keys that somebody else took
   *   out of its sets are looked for by SCAN, which Redis cannot limit to a controller's keys. One process that may is enough: a
   *   bridge.
   * - `own`: the same without SCAN, as a worker must.
   * - `none`: who only looks, or wakes. It cannot work.
   */
  readonly upkeep?: "all" | "own" | "none";
}

/** Whether a controller has ever said anything to this Redis. */
export const hasWorkQueue = async (redis: RedisConnection, controller: string): Promise<boolean> =>
  (await redis.exists(`${prefixOf(controller)}:control`)) === 1;

/** The work queue of one controller, on Redis and BullMQ. */
export function openWorkQueue({
  redis,
  controller,
  log,
  times = {},
  onIncarnation,
  upkeep = "all",
}: WorkQueueOptions): WorkQueue {
  const prefix = prefixOf(controller);
  return openLedgerWorkQueue({
    controller,
    openLedger: (ledgerTimes, onEra) => {
      const ledger = openRedisLedger({ redis, prefix, ...ledgerTimes, onEra });
      const keys = () => ledgerKeys(redis, prefix);
      if (upkeep === "none") return { ledger, keys };
      return { ledger, keys, patrol: patrol({ redis, prefix, ledger, log, mayScan: upkeep === "all" }) };
    },
    bells: bullmqBells({ redis, prefix, log }),
    log,
    times,
    rings: upkeep !== "none",
    onIncarnation,
    async ping() {
      const missing = scriptsMissing(redis);
      if (missing !== undefined) throw missing;
      await redis.ping();
    },
    onCluster: redis instanceof Cluster,
  });
}
