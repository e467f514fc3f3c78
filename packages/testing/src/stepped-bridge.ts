import type { ObjectKey } from "@drover/controller";
import {
  difference,
  ended,
  keyOf,
  type KubeClient,
  listAll,
  meaningsOf,
  type ObjectEvent,
  type SeenObject,
} from "@drover/kube";
import type { QueueMoment, SteppedQueue } from "@drover/queue";
import {
  filingsOf,
  type Follower,
  memoryFiles,
  planStreams,
  type StreamPlan,
  wakesTogether,
} from "@drover/streams";

/** A bridge that looks when it is told to. */
export interface SteppedBridge {
  /** Wakes whom concerns what has changed since it last looked. Answers how many objects that were. */
  look(): Promise<number>;
}

export interface SteppedBridgeOptions {
  readonly client: Pick<KubeClient, "list">;
  readonly followers: readonly Follower[];
  /** The queue of that name. */
  readonly queues: ReadonlyMap<string, SteppedQueue>;
}

/** What the bridge has told of one kind. */
interface Stream {
  readonly plan: StreamPlan;
  readonly seen: Map<ObjectKey, SeenObject>;
  isFirst: boolean;
}

/**
 * The bridge's rules, without its watches: it lists, and tells what differs from what it told before, as a relist does.
 * So what comes and goes between two looks is never seen: Kubernetes promises no more to anybody.
 */
export function steppedBridge({ client, followers, queues }: SteppedBridgeOptions): SteppedBridge {
  const origins = new Map([...queues.keys()].map((name) => [name, "test"]));
  const streams = planStreams(followers, origins).map((plan): Stream => ({
    plan,
    seen: new Map(),
    isFirst: true,
  }));
  const files = memoryFiles();
  const tell = async (
    { plan, seen }: Stream,
    events: readonly ObjectEvent[],
    lookedAfter: ReadonlyMap<string, QueueMoment>,
  ): Promise<void> => {
    const { listeners, ref } = plan;
    files.file(filingsOf(events, listeners));
    for (const [name, theirs] of Map.groupBy(listeners, ({ queue }) => queue)) {
      const moment = lookedAfter.get(name);
      const source = { ref, files, listedAfter: moment, madeAfter: moment && { version: "0", moment } };
      for await (const wakes of wakesTogether(events, theirs, source)) await queues.get(name)?.wake(wakes);
    }
    for (const event of events) remember(seen, event);
  };
  return {
    async look() {
      const moments = new Map<string, QueueMoment>();
      for (const [name, queue] of queues) moments.set(name, await queue.moment());
      const found = await Promise.all(streams.map((stream) => news(client, stream)));
      for (const [i, stream] of streams.entries()) await tell(stream, found[i] ?? [], moments);
      return found.flat().length;
    },
  };
}

async function news(client: Pick<KubeClient, "list">, stream: Stream): Promise<readonly ObjectEvent[]> {
  const { plan, seen, isFirst: first } = stream;
  const subscriptions = plan.listeners.map(({ subscription }) => subscription);
  const { ref, namespace, labelSelector } = plan;
  const objects = await listAll(client, ref, { namespace, labelSelector });
  stream.isFirst = false;
  const there = new Set(objects.map(keyOf));
  const gone = [...seen.values()].filter(({ key }) => !there.has(key));
  const listing = { by: "listing", is: "present", first, believed: false, watchedUpTo: undefined } as const;
  return [
    ...gone.map((one) => ended(one, false)),
    ...objects.flatMap((object) =>
      difference(seen.get(keyOf(object)), { ...listing, object, means: meaningsOf(object, subscriptions) }),
    ),
  ];
}

function remember(seen: Map<ObjectKey, SeenObject>, event: ObjectEvent): void {
  const { key, uid, resourceVersion, means: meant, type } = event;
  if (type === "deleted" || Object.keys(meant).length === 0) seen.delete(key);
  else seen.set(key, { key, uid, resourceVersion, meant });
}
