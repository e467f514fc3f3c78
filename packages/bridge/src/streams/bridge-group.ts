/**
 * A group of bridges that share their streams, and the place of these in Redis. The bridges of a cluster are one group.
 * The bridges that are embedded in the processes of a controller are another one: they follow only the kinds of this
 * controller, and share nothing with others.
 */
export interface BridgeGroup {
  /** A sorted set of the live bridges. */
  readonly members: string;
  /** The set of all streams that have keys. It has the hash tag of `members`, for a Redis Cluster. */
  readonly streams: string;
  /** The prefix of all keys of a stream. */
  readonly prefixOf: (stream: string) => string;
}

/** @param controller the queue of the controller with embedded bridges; left out: the group of the cluster. */
export function groupOf(controller?: string): BridgeGroup {
  const members = controller === undefined ? "{drover-bridges}" : `{drover-bridges:${controller}}`;
  const own = controller === undefined ? "" : `${controller}:`;
  return { members, streams: `${members}:streams`, prefixOf: (stream) => `{drover-stream:${own}${stream}}` };
}
