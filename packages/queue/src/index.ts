/**
 * # @drover/queue
 *
 * A controller's work queue that survives everything: keys, never objects; one run per key; backoff and timers that
 * outlive every process. The truth is a **ledger** in Redis, changed only by the scripts in `scripts/`. BullMQ brings a
 * **bell**, a job that names one due key, to whichever worker is free; bells may be lost, doubled or late. The
 * **ringer** rings when a key's time comes, takes back the leases of dead workers and rings again what was lost.
 *
 * All keys of one controller share the hash tag `{drover:<controller>}`, written `P` here:
 *
 * | key         | type   | holds                                        | written by                 | goes away                |
 * | ----------- | ------ | -------------------------------------------- | -------------------------- | ------------------------ |
 * | `P:key:<k>` | hash   | wakes, lease, failures, versions, reasons    | wake, claim, renew, settle | 60 s after `gone`        |
 * | `P:due`     | zset   | keys that will run, by the time they may     | all                        | key by key               |
 * | `P:rung`    | zset   | keys a bell was added for, by when           | ring (in wake, settle too) | key by key, when claimed |
 * | `P:leases`  | zset   | keys that run, by the end of their lease     | claim, renew               | key by key, when settled |
 * | `P:parked`  | zset   | keys given up on, by when                    | settle                     | key by key, when woken   |
 * | `P:bell`    | string | number of the last bell                      | ring                       | never: one per controller |
 * | `P:bells:*` | BullMQ | the bells                                    | BullMQ                     | done: at once; failed: last 1,000 kept |
 *
 * This package is the only door to bullmq and ioredis; their types stay behind it, but for the connection.
 */
export * from "./work-queue.ts";
export { connectRedis, disconnectRedis, UnfitRedisError, type RedisOptions } from "./redis-connection.ts";
export {
  InvalidTimesError,
  openWorkQueue,
  type QueueTimes,
  type WorkQueueOptions,
} from "./bullmq-work-queue.ts";
export { LeaseLostError } from "./lease.ts";
export { abortVerdict, RunTimeoutError, StoppingError } from "./worker.ts";
