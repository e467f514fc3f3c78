/**
 * Bridges that share their streams, and where in Redis they do. Those of a cluster are one fleet. The ones that are embedded
 * in the processes of a controller are another: they follow what it needs, and know nothing of what others do.
 */
export interface Fleet {
  /** A sorted set of those that are alive. */
  readonly members: string;
  /** The set of all streams that there are keys of: beside the bridges, in one place on a Redis Cluster, too. */
  readonly streams: string;
  /** What all keys of a stream begin with. */
  readonly prefixOf: (stream: string) => string;
}

/** @param controller the queue of the controller whose processes they are embedded in; left out: the cluster's. */
export function fleetOf(controller?: string): Fleet {
  const members = controller === undefined ? "{drover-bridges}" : `{drover-bridges:${controller}}`;
  const own = controller === undefined ? "" : `${controller}:`;
  return { members, streams: `${members}:streams`, prefixOf: (stream) => `{drover-stream:${own}${stream}}` };
}
