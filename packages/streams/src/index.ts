/**
 * # @drover/streams
 *
 * What the bridge's streams have told, kept in Redis, so that a bridge that starts resumes where the last one ended and
 * wakes nobody whose object has not changed. Who writes holds the stream under a lease; a write of anybody else is
 * refused, and so is one that continues what the server no longer has (a failover that lost its tail, an old dump): the
 * stream is then taken up again from where *Redis* stands.
 *
 * All keys of one stream share the hash tag `{drover-stream:<stream>}`, written `S` here; `k` is an object's key:
 *
 * | key            | type | holds                                                                    | goes away                      |
 * | -------------- | ---- | ------------------------------------------------------------------------ | ------------------------------ |
 * | `S:stream`     | hash | lease (token, holder, until), position, to whom it was told, writes      | when nobody follows the stream |
 * | `S:seen`       | hash | per `k`: uid, version, and per subscription what it meant (view, keys)   | `k`: when its deletion is told |
 * | `S:quarantine` | any  | what somebody else put in the place of one of these                      | when an operator removes it    |
 *
 * `{drover-bridges}` is a sorted set of the live bridges, by when they are taken for dead.
 *
 * Order, per piece of a stream: first the wakes, then, in one script, index and position. A crash in between repeats
 * wakes; it never skips one. There are no tombstones: a stream's position is never behind what was told, and what a
 * watch repeats from before its position is not taken (docs/decisions/0011).
 */
export { type Bridges, joinBridges } from "./bridges.ts";
export { placeStreams } from "./placement.ts";
export {
  type Audience,
  type HeldStream,
  openStreamStore,
  StreamLostError,
  type StreamStore,
  type StreamStoreOptions,
} from "./stream-store.ts";
