/**
 * # @drover/queue
 *
 * A controller's work queue that survives everything: keys, and of objects copies for a moment; one run per key; backoff and timers that
 * outlive every process. The truth is a **ledger** in Redis, changed only by the scripts in
 * `scripts/`. A due key is given to a free slot that a worker **offers**; where there is none, BullMQ brings a
 * **bell**, a job that names one due key, to whichever worker is free; bells may be lost, doubled or late. The
 * **ringer** rings when a key's time comes, takes back the leases of dead workers and rings again what was lost.
 *
 * All keys of one queue share the hash tag `{drover:<queue>}`, written `P` here; `k` is an object's key. `<queue>` is the
 * queue's name, `<namespace>/<name>/<uid>` of a ReconcileFunction (`queueOf` of @drover/controller); when that is deleted, the
 * deployer deletes them all (`queue-keys.ts`). The deployer's own
 * queue has `{drover.system:<queue>}` instead:
 *
 * | key                       | type   | holds                                                      | written by                  | goes away                 |
 * | ------------------------- | ------ | ---------------------------------------------------------- | --------------------------- | ------------------------- |
 * | `P:control`               | hash   | server and era, slots, settings, last bell and turn        | all                         | never: one per controller |
 * | `P:key:<k>`               | hash   | state, wakes, lease, failures, versions, reasons, account  | wake, claim, renew, settle  | 60 s after `gone`         |
 * | `P:copy:<k>`              | string | the object, as its last run saw it                         | settle                      | after 10 s                |
 * | `P:lists:<k>`             | string | what a run left of others, for the next                    | settle                      | after 10 s                |
 * | `P:news:<k>`              | set    | what was told of others since                              | wake                        | with the lists            |
 * | `P:history:<k>`           | list   | the last 10 runs                                           | settle                      | 60 s after `gone`         |
 * | `P:waits`                 | zset   | keys that wait for a time, by that time                    | wake, claim, settle, ring   | key by key                |
 * | `P:ready`                 | zset   | keys that wait for their turn, by since when               | wake, settle, ring, pause   | key by key                |
 * | `P:queue:<class>:<lane>`  | zset   | ready keys of one class and lane, by since when            | as `P:ready`                | with its last key         |
 * | `P:turns:<class>`         | zset   | lanes that have ready keys, by whose turn it is            | as `P:ready`                | lane by lane              |
 * | `P:shut`                  | zset   | `<class>:<lane>` of closed accounts and paused namespaces, by when they open | ring, pause | lane by lane            |
 * | `P:rung`                  | zset   | keys a bell was added for, by when                         | ring (in wake, settle, pause, too) | key by key         |
 * | `P:leases`                | zset   | keys that run, by the end of their lease                   | claim, settle, renew        | key by key, when settled  |
 * | `P:parked`                | zset   | keys given up on, by when                                  | settle                      | key by key, when woken    |
 * | `P:suspended`           | zset   | due keys whose object is paused, by since when             | as `P:ready`                | key by key, when resumed  |
 * | `P:failing`               | zset   | keys whose last run failed, by since when                  | claim, settle, ring, wake   | key by key, with the next success |
 * | `P:paused`                | hash   | paused scopes: since when, and by whom                     | pause                       | when resumed              |
 * | `P:limits`                | hash   | rates, and until when each limit is spent or closed        | enlist, ring, settle        | never: a few fields per limit |
 * | `P:workers`               | hash   | worker processes: until when, slots, version               | enlist                      | a lease and 2 s after the last word |
 * | `P:offers`                | zset   | tokens of free slots, by when their offers end             | offer, settle               | when given, withdrawn or over |
 * | `P:offered`               | hash   | by token: worker, version, and its time of the offer       | as `P:offers`               | as `P:offers`             |
 * | `P:given`                 | hash   | by token: the key that it was given                        | wake, settle, ring, pause   | when settled, or its lease has ended |
 * | `P:campaign`              | string | the last campaign, as JSON; @drover/streams writes it      | the bridge                  | with the queue            |
 * | `P:retries`               | string | the last campaign of what failed, likewise                 | the bridge                  | with the queue            |
 * | `P:named`                 | hash   | per `k`: the keys that it named, where code is asked for them | remember                | key by key, when it names none |
 * | `P:quarantine:<key>`      | any    | what somebody else made of a key of the ledger             | all                         | when an operator removes it |
 * | `P:worker:<id>`           | channel | what its slots are given                                  | wake, settle, ring, pause   | is no key                 |
 * | `P:bells:*`               | BullMQ | the bells                                                  | BullMQ                      | done: at once; failed: last 1,000 kept |
 *
 * The same queue without Redis, for tests of functions, is `openMemoryWorkQueue`. Its ledger, `memory-ledger.ts`, is the
 * place to learn the rules: it answers as the scripts do, and random calls of both are compared in `ledgers-agree/`.
 *
 * This package is the only door to bullmq and ioredis; their types stay behind it, but for the connection.
 */
export * from "./work-queue.ts";
export { parseRedisUrl, type RedisNode } from "./redis-address.ts";
export {
  connectRedis,
  disconnectRedis,
  type RedisConnection,
  type RedisOptions,
} from "./redis-connection.ts";
export { refuseUnfit, UnfitRedisError } from "./refuse-unfit.ts";
export { serverIds } from "./redis-primaries.ts";
export {
  InvalidRedisUserError,
  type RedisRole,
  redisUserRules,
  type RedisUserOptions,
} from "./redis-users.ts";
export { type RedisAccounts, redisAccounts } from "./redis-accounts.ts";
export { type NamedKeys, openNamedKeys } from "./named-keys.ts";
export { deleteKeys, type KeyWalk, type QueueKey, walkQueueKeys } from "./queue-keys.ts";
export { callLua, type Lua, lua, type LuaArguments } from "./lua.ts";
export { jsonBytes, mostListed } from "./script-bounds.ts";
export { listedPages } from "./listed-pages.ts";
export { pieces } from "./pieces.ts";
export { raceAbort } from "./race-abort.ts";
export { within } from "./within.ts";
export { prefixOf } from "./prefix-of.ts";
export { ScriptsMissingError } from "./run-script.ts";
export { hasWorkQueue, openWorkQueue, type WorkQueueOptions } from "./bullmq-work-queue.ts";
export { type MemoryWorkQueueOptions, openMemoryWorkQueue } from "./memory-work-queue.ts";
export {
  openSteppedQueue,
  type SteppedQueue,
  type SteppedQueueOptions,
  type SteppedTurn,
} from "./stepped-queue.ts";
export { InvalidTimesError, type QueueTimes } from "./ledger-work-queue.ts";
export { LeaseLostError } from "./lease-keeper.ts";
export { leftCopyKept } from "./ledger.ts";
export { abortVerdict, RunTimeoutError, StoppingError } from "./perform-run.ts";
