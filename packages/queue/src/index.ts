/**
 * # @drover/queue
 *
 * A controller's work queue. It holds keys, and cached objects for a few seconds. A key has one run at a time; its
 * backoff and timers outlive every process. The state is a **ledger** in Redis, changed only by the scripts in
 * `ledger/scripts/` and the functions in `ledger/rules/`, both in Lua.
 *
 * A worker advertises its idle slots, and the ledger assigns a due key to one of them. If none is advertised, a BullMQ
 * job (`ClaimJob`) with the key asks any free worker to claim it. Jobs may be lost, duplicate or late. When a run is
 * settled, the answer contains the next due key for its slot, if there is one: that key is chained to the run. A
 * dispatcher (`Dispatcher`) in every bridge and worker makes keys due when their time comes, takes back the leases of
 * dead workers, and adds lost jobs again.
 *
 * All Redis keys of one queue share the hash tag `{drover:<queue>}`, written `P` here; `k` is an object's key.
 * `<queue>` is the queue's name: for a ReconcileFunction `<namespace>/<name>/<uid>` (`queueOf` of @drover/controller).
 * When the ReconcileFunction is deleted, the deployer deletes all keys of the queue (`queue-keys.ts`). The deployer's
 * own queue has the hash tag `{drover.system:<queue>}`. A flow is a namespace, or the part of one that uses a named
 * account.
 *
 * | key                       | type   | holds                                                      | written by                  | goes away                 |
 * | ------------------------- | ------ | ---------------------------------------------------------- | --------------------------- | ------------------------- |
 * | `P:control`               | hash   | server and incarnation, slots, settings, last job and turn | all                         | never: one per controller |
 * | `P:key:<k>`               | hash   | state, wakes, lease, failures, versions, reasons, account  | wake, claim, renew, settle  | 60 s after `gone`         |
 * | `P:object:<k>`            | string | the object, as its last run observed it                    | settle                      | after 10 s, or `keepFor`  |
 * | `P:lists:<k>`             | string | a run's lists of other objects, for the next run           | settle                      | after 10 s, or `keepFor`  |
 * | `P:deltas:<k>`            | set    | changes of other objects since that run began              | wake                        | with the lists            |
 * | `P:history:<k>`           | list   | the last 10 runs                                           | settle                      | 60 s after `gone`         |
 * | `P:waits`                 | zset   | keys that wait for a time, by that time                    | wake, claim, settle, dispatch | key by key              |
 * | `P:ready`                 | zset   | keys that wait for their turn, by since when               | wake, settle, dispatch, pause | key by key              |
 * | `P:queue:<class>:<flow>`  | zset   | ready keys of one class and flow, by since when            | as `P:ready`                | with its last key         |
 * | `P:flows:<class>`         | zset   | flows that have ready keys, in the order of their turns    | as `P:ready`                | flow by flow              |
 * | `P:throttled`             | zset   | `<class>:<flow>` of throttled accounts and paused namespaces, by when they open | dispatch, pause | flow by flow     |
 * | `P:dispatched`            | zset   | keys with a job, by when it was added                      | dispatch (in wake, settle, pause, too) | key by key     |
 * | `P:leases`                | zset   | keys that run, by the end of their lease                   | claim, renew, and as `P:assigned` | key by key, when settled |
 * | `P:parked`                | zset   | parked keys, by since when                                 | settle                      | key by key, when woken    |
 * | `P:paused`                | zset   | due keys of paused objects, by since when                  | as `P:ready`                | key by key, when resumed  |
 * | `P:failing`               | zset   | keys with a failed last run, by since when                 | claim, settle, dispatch, wake | key by key, with the next success |
 * | `P:pauses`                | hash   | paused scopes: since when, and the author                  | pause                       | when resumed              |
 * | `P:limits`                | hash   | rates, and until when each limit is used up or throttled   | registerWorker, dispatch, settle | never: a few fields per limit |
 * | `P:workers`               | hash   | worker processes: until when, slots, version               | registerWorker              | a lease and 2 s after the last `registerWorker` |
 * | `P:scripts`               | hash   | script sets of live workers, or of the last one: until when | registerWorker             | a lease and 2 s after another set's last `registerWorker` |
 * | `P:advertised`            | zset   | tokens of idle slots, by when their advertisements end     | advertise, settle           | when assigned, retracted or expired |
 * | `P:advertisements`        | hash   | by token: worker, version, and its time of the advertisement | as `P:advertised`             | as `P:advertised`             |
 * | `P:assigned`              | hash   | by token: the key assigned to the slot                     | wake, settle, dispatch, pause, advertise | when settled, or its lease has ended |
 * | `P:campaign`              | string | the last campaign, as JSON; @drover/bridge writes it       | the bridge                  | with the queue            |
 * | `P:retries`               | string | the last campaign of failed keys, in the same form         | the bridge                  | with the queue            |
 * | `P:named`                 | hash   | per `k`: the keys that the controller's mapping code returned for it | storeMappedKeys | key by key, when it returns none |
 * | `P:quarantine:<key>`      | any    | a key of the ledger as another client changed it           | all                         | when an operator removes it |
 * | `P:worker:<id>`           | channel | the keys that its slots are assigned                      | as `P:assigned`                | not a key                 |
 * | `P:jobs:*`               | BullMQ | the jobs                                                   | BullMQ                      | done: at once; failed: last 1,000 kept |
 *
 * `memory/` is a model of the ledger without Redis, for the testing kit (`@drover/queue/memory`) and for readers: its
 * `rules/` give the same answers as the scripts, and `memory/agreement/` compares random calls of both.
 *
 * Only this package imports bullmq and ioredis. Their types are not exported, except for the connection.
 */
export {
  type WakeClass,
  type Wake,
  type QueueTime,
  type ObservedVersion,
  type Claim,
  type RunOutcome,
  outcomeKinds,
  type Run,
  type PauseScope,
  type ListedState,
  type Pause,
  type KeyReport,
  type PastRun,
  type QueueStats,
  type QueueWorker,
  type WorkOptions,
  type WorkQueue,
} from "./work-queue/work-queue.ts";
export { parseRedisUrl, type RedisNode } from "./redis/redis-address.ts";
export { connectRedis, disconnectRedis } from "./redis/redis-connection.ts";
export { type RedisConnection } from "./redis/redis-servers.ts";
export { reloadCertificate } from "./redis/reload-certificate.ts";
export { checkServer, UnfitRedisError } from "./redis/check-server.ts";
export { dataVersions } from "./redis/data-versions.ts";
export {
  forgetSets,
  type RecordedSet,
  recordedSetExpiry,
  recordedSets,
  redisNow,
} from "./redis/lua/recorded-scripts.ts";
export { queueScripts, type QueueScripts } from "./work-queue/queue-scripts.ts";
export { serverIds } from "./redis/redis-servers.ts";
export { type RedisRole, redisUserRules, type RedisUserOptions } from "./redis/users/redis-users.ts";
export { type RedisUserAdmin, redisUserAdmin } from "./redis/users/redis-user-admin.ts";
export { type MappedKeys, openMappedKeys } from "./ledger/mapped-keys.ts";
export { deleteKeys, type QueueKeyScan, type QueueKey, scanQueueKeys } from "./work-queue/queue-keys.ts";
export { callLua, defineLuaScript } from "./redis/lua/lua-script.ts";
export { luaAssembler, luaSources } from "./redis/lua/assemble-lua.ts";
export { readLuaFile } from "./redis/lua/read-lua-file.ts";
export { maxJsonBytes, maxListItems } from "./redis/lua/script-bounds.ts";
export { listedPages } from "./work-queue/listed-pages.ts";
export { splitIntoBatches } from "./work-queue/ledger-work-queue.ts";
export { withReplyTimeout } from "./redis/with-reply-timeout.ts";
export { queuePrefix } from "./work-queue/queue-prefix.ts";
export { hasWorkQueue, openWorkQueue } from "./work-queue/bullmq-work-queue.ts";
export type { QueueDurations } from "./work-queue/ledger-work-queue.ts";
export { LeaseLostError } from "./worker/lease-keeper.ts";
export { cachedObjectTtl } from "./cache/cache-bounds.ts";
export { abortOutcome, RunTimeoutError, StoppingError } from "./worker/runner.ts";
