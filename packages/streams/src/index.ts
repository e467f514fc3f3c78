/**
 * # @drover/streams
 *
 * The first part is pure, and the same in a bridge and in tests: the kinds that a controller follows (`follows-of`),
 * the streams that all controllers need together (`plan-streams`), the keys that an event wakes (`wakes-of`), and the
 * entries for the lookups of keys (`filings-of`).
 *
 * The second part stores the state of the bridge's streams in Redis, so that a bridge that starts resumes where the
 * last one ended, and wakes no object that has not changed. A writer holds the stream under a lease. A write of another
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
 * again). `{drover-bridges}:origins` is a hash of the queues' first incarnations (`known-origins.ts`). Bridges that
 * are embedded in a controller's processes have their own keys: `{drover-bridges:<controller>}` and
 * `{drover-stream:<controller>:<stream>}` (`fleet.ts`). `{drover-hook:<queue>}:<hook>` is a sorted set of a hook's
 * events with recorded wakes, by time; it keeps the latest 100,000, for a day. `{drover:<queue>}:campaign` is the last
 * campaign of a controller: its name, when it began and when it was done. `<queue>` is the name of the controller's
 * queue, which is its function's identity.
 *
 * Order, per batch of a stream: first the reverse indexes, then the wakes (in their queue, or owed to it:
 * `owed-wakes.ts`), then, in one script, the seen index and the position. A crash in between repeats wakes; it never
 * skips one. Tombstones are not needed: the position is never behind the changes that were emitted, and a change that a
 * watch repeats from before its position is ignored (docs/decisions/0011).
 */
export { type GroupMembership, joinGroup } from "./bridges.ts";
export { parseDeclaredPath } from "./declared-path.ts";
export { indexUpdatesOf } from "./filings-of.ts";
export { type Follow, type Follower, followsOf } from "./follows-of.ts";
export { InvalidRegistrationError } from "./invalid-registration.ts";
export {
  indexRefsOf,
  type Subscriber,
  type StreamScope,
  describeScope,
  planStreams,
  type StreamPlan,
  streamsOf,
} from "./plan-streams.ts";
export { type EventContext, wakesOf, mergedWakes } from "./wakes-of.ts";
export {
  type CampaignRecord,
  type CampaignId,
  type CampaignObjects,
  type CampaignStore,
  openCampaigns,
} from "./campaigns.ts";
export { type IndexRef, type ReverseIndexes, openReverseIndexes, type IndexQuery } from "./files.ts";
export { type FirstIncarnationStore, openFirstIncarnations } from "./known-origins.ts";
export { type MemoryReverseIndexes, memoryReverseIndexes } from "./memory-files.ts";
export { type EventIds, type EventIdsOptions, openEventIds } from "./event-ids.ts";
export { type BridgeGroup, groupOf } from "./fleet.ts";
export type { OwedWakes } from "./owed-wakes.ts";
export { placeStreams } from "./placement.ts";
export {
  type SubscriberSet,
  type IndexUpdate,
  type HeldStream,
  openStreamStore,
  StreamLostError,
  type StreamStore,
  type StreamStoreOptions,
} from "./stream-store.ts";
