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
   * Whether keys that somebody else took out of the ledger's sets are looked for by SCAN, which Redis cannot limit to a
   * controller's keys. One process that may is enough: a bridge. Default: true.
   */
  readonly mayScan?: boolean;
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
  mayScan = true,
}: WorkQueueOptions): WorkQueue {
  const prefix = prefixOf(controller);
  return openLedgerWorkQueue({
    controller,
    openLedger: (ledgerTimes, onEra) => {
      const ledger = openRedisLedger({ redis, prefix, ...ledgerTimes, onEra });
      const keys = () => ledgerKeys(redis, prefix);
      return { ledger, keys, chore: patrol({ redis, prefix, ledger, log, mayScan }) };
    },
    bells: bullmqBells({ redis, prefix, log }),
    log,
    times,
    onIncarnation,
    async ping() {
      const missing = scriptsMissing(redis);
      if (missing !== undefined) throw missing;
      await redis.ping();
    },
    onCluster: redis instanceof Cluster,
  });
}
