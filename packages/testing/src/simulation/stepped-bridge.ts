import type { ObjectKey } from "@drover/controller";
import {
  changeEvents,
  deletionEvent,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
  type ObjectEvent,
  type SeenObject,
} from "@drover/kube";
import {
  mappingResultsOf,
  indexUpdatesOf,
  type Follower,
  memoryReverseIndexes,
  planStreams,
  type StreamPlan,
  mergedWakes,
} from "@drover/bridge";
import type { QueueTime } from "@drover/queue";
import type { SteppedQueue } from "@drover/queue/memory";

/** A bridge that looks for changes only when it is called. */
export interface SteppedBridge {
  /** Wakes the keys that the changes since the last call concern. */
  observeChanges(): Promise<void>;
}

export interface SteppedBridgeOptions {
  readonly client: Pick<KubeClient, "list">;
  readonly followers: readonly Follower[];
  /** The queue of that name. */
  readonly queues: ReadonlyMap<string, SteppedQueue>;
}

/** The objects of one kind, as the bridge has last seen them. */
interface SteppedStream {
  readonly plan: StreamPlan;
  readonly seen: Map<ObjectKey, SeenObject>;
  /** The uids of all objects in its last list; undefined before the first one. */
  listed: ReadonlySet<string> | undefined;
}

/**
 * The bridge's rules, without its watches: it lists, and wakes keys for the differences from the last list, as a relist does.
 * So an object that exists only between two lists is never seen: Kubernetes promises no more.
 */
export function steppedBridge({ client, followers, queues }: SteppedBridgeOptions): SteppedBridge {
  const firstIncarnations = new Map([...queues.keys()].map((name) => [name, "test"]));
  const streams = planStreams(followers, firstIncarnations).map((plan): SteppedStream => ({
    plan,
    seen: new Map(),
    listed: undefined,
  }));
  const index = memoryReverseIndexes();
  const emit = async (
    { plan, seen }: SteppedStream,
    events: readonly ObjectEvent[],
    lookedAfter: ReadonlyMap<string, QueueTime>,
  ): Promise<void> => {
    const { subscribers, ref, labelSelector } = plan;
    index.update(indexUpdatesOf(events, subscribers));
    for (const [name, theirs] of Map.groupBy(subscribers, ({ queue }) => queue)) {
      const moment = lookedAfter.get(name);
      const source = {
        ref,
        labelSelector,
        indexes: index,
        listedAfter: moment,
        madeAfter: moment && { version: "0", moment },
      };
      for await (const wakes of mergedWakes(events, theirs, source)) await queues.get(name)?.wake(wakes);
    }
    for (const event of events) remember(seen, event);
  };
  return {
    async observeChanges() {
      const moments = new Map<string, QueueTime>();
      for (const [name, queue] of queues) moments.set(name, await queue.time());
      const found = await Promise.all(streams.map((stream) => deltasOf(client, stream)));
      for (const [i, stream] of streams.entries()) await emit(stream, found[i] ?? [], moments);
    },
  };
}

async function deltasOf(
  client: Pick<KubeClient, "list">,
  stream: SteppedStream,
): Promise<readonly ObjectEvent[]> {
  const { plan, seen, listed: before } = stream;
  const subscriptions = plan.subscribers.map(({ subscription }) => subscription);
  const { ref, namespace, labelSelector } = plan;
  const objects = await listAll(client, ref, { namespace, labelSelector });
  stream.listed = new Set(objects.map(({ metadata }) => metadata.uid));
  const there = new Set(objects.map(keyOf));
  const gone = [...seen.values()].filter(({ key }) => !there.has(key));
  const first = before === undefined;
  const listing = { by: "listing", is: "present", first, believed: false, watchedUpTo: undefined } as const;
  /** As a watch shows it. */
  const creation = { by: "watch", is: "present", created: true } as const;
  const isNew = ({ metadata: { uid } }: KubeObject): boolean => before?.has(uid) === false;
  return [
    ...gone.map((one) => deletionEvent(one, false)),
    ...objects.flatMap((object) =>
      changeEvents(seen.get(keyOf(object)), {
        ...(isNew(object) ? creation : listing),
        object,
        matched: mappingResultsOf(object, subscriptions),
      }),
    ),
  ];
}

function remember(seen: Map<ObjectKey, SeenObject>, event: ObjectEvent): void {
  const { key, uid, resourceVersion, matched, type } = event;
  if (type === "deleted" || Object.keys(matched).length === 0) seen.delete(key);
  else seen.set(key, { key, uid, resourceVersion, matched });
}
