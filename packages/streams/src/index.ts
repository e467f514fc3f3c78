/**
 * # @drover/streams
 *
 * Which kinds a controller follows (`follows-of`), the streams that these make for all controllers (`plan-streams`), and
 * whom an event wakes (`wakes-of`; `filings-of` for those who are looked up): pure, and the same in a bridge and in tests.
 *
 * And what the bridge's streams have told, kept in Redis, so that a bridge that starts resumes where the last one ended and
 * wakes nobody whose object has not changed. Who writes holds the stream under a lease; a write of anybody else is
 * refused, and so is one that continues what the server no longer has (a failover that lost its tail, an old dump): the
 * stream is then taken up again from where *Redis* stands.
 *
 * All keys of one stream share the hash tag `{drover-stream:<stream>}`, written `S` here, where `<stream>` is JSON such as
 * `["apps","v1","deployments","Deployment","Namespaced"]`, with a namespace at its end for a stream of one; `k` is an object's key:
 *
 * | key            | type | holds                                                                    | goes away                      |
 * | -------------- | ---- | ------------------------------------------------------------------------ | ------------------------------ |
 * | `S:stream`     | hash | lease (token, holder, until), position, to whom it was told, writes      | when nobody follows the stream |
 * | `S:seen`       | hash | per `k`: uid, version, and per subscription what it meant (view, keys)   | `k`: when its deletion is told |
 * | `S:filed`      | hash | per `k`: the files that it is in, and under which terms                  | `k`: when its deletion is told |
 * | `S:file:<id>`  | zset | term, `k` and note: who is found under a term by one subscription        | when nobody looks into it      |
 * | `S:files`      | set  | the ids of these files                                                   | with its last file             |
 * | `S:behind`     | hash | per queue that does not take its wakes: since when, and how many keys    | `queue`: when it has them all  |
 * | `S:owed:<queue>` | hash | per key of that queue: the wake that it is owed                        | `key`: when the queue took it  |
 * | `S:quarantine` | any  | what somebody else put in the place of one of these                      | when an operator removes it    |
 *
 * `{drover-bridges}` is a sorted set of the live bridges, by when they are taken for dead, `{drover-bridges}:streams` the
 * set of all streams that there are keys of (lost, it is written again by who holds a stream), `{drover-bridges}:origins` a hash
 * of the queues' origins (`known-origins.ts`). Bridges that are embedded in a
 * controller's processes have their own of all these: `{drover-bridges:<controller>}` and `{drover-stream:<controller>:<stream>}`
 * (`fleet.ts`). `{drover-hook:<queue>}:<hook>` is a sorted set of the events of a hook whose wakes are recorded, by when; it
 * forgets after a day, and the oldest of 100,000. `{drover:<queue>}:campaign` is the last campaign of a controller: its name,
 * when it began and when it was done. `<queue>` is the name of the controller's queue, which is its function's identity.
 *
 * Order, per piece of a stream: first the files, then the wakes (in their queue, or owed to it: `owed-wakes.ts`), then, in one script, index and position. A crash in
 * between repeats wakes; it never skips one. There are no tombstones: a stream's position is never behind what was told, and what a
 * watch repeats from before its position is not taken (docs/decisions/0011).
 */
export { type Bridges, joinBridges } from "./bridges.ts";
export { declaredPath } from "./declared-path.ts";
export { filingsOf } from "./filings-of.ts";
export { type Follow, type Follower, followsOf } from "./follows-of.ts";
export { InvalidRegistrationError } from "./invalid-registration.ts";
export {
  filesOf,
  type Listener,
  type Place,
  placeWords,
  planStreams,
  type StreamPlan,
  streamsOf,
} from "./plan-streams.ts";
export { type EventSource, wakesOf, wakesTogether } from "./wakes-of.ts";
export {
  type BegunCampaign,
  type CampaignId,
  type CampaignObjects,
  type CampaignStore,
  openCampaigns,
} from "./campaigns.ts";
export { type FileRef, type Files, openFiles, type Question } from "./files.ts";
export { type KnownOrigins, openKnownOrigins } from "./known-origins.ts";
export { type MemoryFiles, memoryFiles } from "./memory-files.ts";
export { type EventIds, type EventIdsOptions, openEventIds } from "./event-ids.ts";
export { type Fleet, fleetOf } from "./fleet.ts";
export type { OwedWakes } from "./owed-wakes.ts";
export { placeStreams } from "./placement.ts";
export {
  type Audience,
  type Filed,
  type HeldStream,
  openStreamStore,
  StreamLostError,
  type StreamStore,
  type StreamStoreOptions,
} from "./stream-store.ts";
