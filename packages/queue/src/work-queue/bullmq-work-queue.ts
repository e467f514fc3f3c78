import type { Log } from "@drover/controller";
import { Cluster } from "ioredis";
import { openBullmqJobQueue } from "../bullmq/bullmq-job-queue.ts";
import { openLedgerWorkQueue, type QueueDurations } from "./ledger-work-queue.ts";
import { scanLedgerKeys } from "../ledger/ledger-keys.ts";
import { startScrubber } from "../ledger/scrubber.ts";
import { queuePrefix } from "./queue-prefix.ts";
import type { RedisConnection } from "../redis/redis-servers.ts";
import { openRedisLedger } from "../ledger/redis-ledger.ts";
import { scriptsMissing } from "../redis/lua/lua-script.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface WorkQueueOptions {
  /** From `connectRedis`. It stays open when the queue is closed: the caller opened it, and closes it. */
  readonly redis: RedisConnection;
  /** The queue's name, as `queueOf` of @drover/controller makes it. */
  readonly controller: string;
  readonly log: Log;
  readonly times?: Partial<QueueDurations>;
  /**
   * Called when Redis was restarted, replaced or emptied, so that acknowledged wakes may be lost. A process that
   * watches the objects (a bridge) then wakes all of them again.
   */
  readonly onIncarnation?: (incarnation: string) => void;
  /**
   * Work that the queue does by itself, about once a second:
   *
   * - `all`, the default: runs a dispatcher, and repairs the ledger in Redis. Keys that another client removed from
   *   their sets are found by SCAN, which Redis cannot limit to a controller's keys. One process with that permission
   *   is enough: a bridge.
   * - `own`: the same without SCAN. For workers, which have no permission for it.
   * - `none`: nothing. For a process that only reads or wakes; it cannot run keys.
   */
  readonly upkeep?: "all" | "own" | "none";
}

/** True if a controller's queue has ever been used in this Redis. */
export const hasWorkQueue = async (redis: RedisConnection, controller: string): Promise<boolean> =>
  (await redis.exists(`${queuePrefix(controller)}:control`)) === 1;

/** The work queue of one controller, on Redis and BullMQ. */
export function openWorkQueue({
  redis,
  controller,
  log,
  times = {},
  onIncarnation,
  upkeep = "all",
}: WorkQueueOptions): WorkQueue {
  const prefix = queuePrefix(controller);
  return openLedgerWorkQueue({
    controller,
    openLedger: (ledgerTimes, reportIncarnation) => {
      const ledger = openRedisLedger({ redis, prefix, ...ledgerTimes, onIncarnation: reportIncarnation });
      const keys = () => scanLedgerKeys(redis, prefix);
      if (upkeep === "none") return { ledger, keys };
      return {
        ledger,
        keys,
        scrubber: startScrubber({ redis, prefix, ledger, log, mayScan: upkeep === "all" }),
      };
    },
    jobQueue: openBullmqJobQueue({ redis, prefix, log }),
    log,
    times,
    hasDispatcher: upkeep !== "none",
    onIncarnation,
    async ping() {
      const missing = scriptsMissing(redis);
      if (missing !== undefined) throw missing;
      await redis.ping();
    },
    onCluster: redis instanceof Cluster,
  });
}
