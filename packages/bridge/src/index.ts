/**
 * # @drover/bridge
 *
 * Watches the API server and wakes the keys that each change affects. `serveBridge` adds a bridge to a process: to
 * `apps/bridge`, which is nothing else, and to the processes that `@drover/embedded` runs. From a declaration to a wake:
 *
 * - `registration/` reads the controllers that are declared, by ReconcileFunctions of the cluster or in files.
 * - `mapping/` is pure: the kinds that a controller follows (`follows-of`), the mapping results of an object
 *   (`subscription`), and the keys that an event wakes (`wakes-of`). It is the same in a bridge and in tests.
 * - `streams/` plans the streams that all controllers need together (`plan-streams`), holds this bridge's share of them
 *   under leases in Redis (`keep-streams`), and follows each (`follow-stream`).
 * - `store/` stores the state of the streams in Redis.
 * - `queues/` opens the functions' queues and delivers the wakes to them.
 * - `campaigns/` reconciles all objects of a controller once more.
 * - `hooks/` receives events from outside the cluster.
 *
 * ## The state of the streams in Redis
 *
 * A bridge that starts resumes where the last one ended, and wakes no object that has not changed. A writer holds the stream under a lease. A write of another
 * bridge is refused, and so is one that continues from data that the server has lost (a failover that lost the last
 * writes, an old dump): the stream is then taken again, at the position that *Redis* has.
 *
 * All keys of one stream share the hash tag `{drover-stream:<stream>}`, written `S` here, where `<stream>` is JSON such
 * as `["apps","v1","deployments","Deployment","Namespaced"]`, with a namespace at its end for a stream of one; `k` is
 * an object's key:
 *
 * | key              | type | contents                                                    | deleted                  |
 * | ---------------- | ---- | ----------------------------------------------------------- | ------------------------ |
 * | `S:stream`       | hash | lease (token, holder, until), position, subscribers, writes | without subscribers      |
 * | `S:seen`         | hash | per `k`: uid, version, and mapping result per subscription  | `k`: after its deletion  |
 * | `S:filed`        | hash | per `k`: the reverse indexes that have it, and its terms    | `k`: after its deletion  |
 * | `S:file:<id>`    | zset | a reverse index of one subscription: term, `k` and note     | when no lookup needs it  |
 * | `S:files`        | set  | the ids of these indexes                                    | with the last of them    |
 * | `S:behind`       | hash | per queue that refuses wakes: since when, and how many keys | `queue`: when it has all |
 * | `S:owed:<queue>` | hash | per key of that queue: the wake that it is owed             | `key`: when accepted     |
 * | `S:quarantine`   | any  | data of a wrong type that replaced one of these             | by an operator           |
 *
 * `{drover-bridges}` is a sorted set of the live bridges, by the time at which they count as gone.
 * `{drover-bridges}:streams` is the set of all streams that have keys (if it is lost, the holders of streams write it
 * again). `{drover-bridges}:origins` is a hash of the queues' first incarnations (`first-incarnations.ts`). Bridges that
 * are embedded in a controller's processes have their own keys: `{drover-bridges:<controller>}` and
 * `{drover-stream:<controller>:<stream>}` (`bridge-group.ts`). `{drover-hook:<queue>}:<hook>` is a sorted set of a hook's
 * events with recorded wakes, by time; it keeps the latest 100,000, for a day. `{drover:<queue>}:campaign` is the last
 * campaign of a controller: its name, when it began and when it was done. `<queue>` is the name of the controller's
 * queue, which is its function's identity.
 *
 * Order, per batch of a stream: first the reverse indexes, then the wakes (in their queue, or owed to it:
 * `owed-wakes.ts`), then, in one script, the seen index and the position. A crash in between repeats wakes; it never
 * skips one. Tombstones are not needed: the position is never behind the changes that were emitted, and a change that a
 * watch repeats from before its position is ignored (docs/decisions/0011).
 */
export { type Bridge, openBridge } from "./bridge.ts";
export { followSettings } from "./follow-settings.ts";
export { type Hooks, openHooks } from "./hooks/open-hooks.ts";
export { type Follower, followsOf } from "./mapping/follows-of.ts";
export { mappingResultsOf, type Subscription } from "./mapping/subscription.ts";
export { mergedWakes } from "./mapping/wakes-of.ts";
export { followFunctions } from "./registration/registered-functions.ts";
export { readRegistrations } from "./registration/read-registrations.ts";
export { type Registration, registrationOf } from "./registration/registration.ts";
export { serveBridge } from "./serve-bridge.ts";
export { indexUpdatesOf } from "./streams/follow-stream.ts";
export { memoryReverseIndexes } from "./store/memory-reverse-indexes.ts";
export { writeFollowStatus } from "./registration/follow-status.ts";
export { planStreams, type StreamPlan } from "./streams/plan-streams.ts";
