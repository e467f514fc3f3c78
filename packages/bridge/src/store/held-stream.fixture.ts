import type { ObjectKey } from "@drover/controller";
import type { SeenChange } from "@drover/kube";
import type { RedisConnection, Wake } from "@drover/queue";
import { groupOf } from "../streams/bridge-group.ts";
import {
  type HeldStream,
  openStreamStore,
  type StreamStore,
  type StreamStoreOptions,
  type SubscriberSet,
} from "./stream-store.ts";

export const us: SubscriberSet = { scope: "all", listeners: ["us"], queues: ["a"] };

/** The streams of a bridge, with leases that do not end during a test. */
export const openTestStreams = (
  redis: RedisConnection,
  more: Partial<StreamStoreOptions> = {},
): StreamStore => openStreamStore({ group: groupOf(), redis, holder: "bridge-1", lease: 60_000, ...more });

/** Takes a stream. @throws if another bridge holds it. */
export async function heldStream(
  store: StreamStore,
  stream: string,
  subscribers: SubscriberSet = us,
): Promise<HeldStream> {
  const held = await store.hold(stream, subscribers);
  if ("heldBy" in held) throw new Error(`held by ${held.heldBy}`);
  return held;
}

/** A change of the seen index that stores and removes no objects and no position, except those in `more`. */
export const seenChange = (more: Partial<SeenChange>): SeenChange => ({
  put: [],
  forget: [],
  position: undefined,
  whole: false,
  ...more,
});

/** A wake for an object that was added. */
export const wakeOf = (key: ObjectKey, more: Partial<Wake> = {}): Wake => ({
  key,
  kind: "things",
  resourceVersion: "1",
  reason: "Added",
  class: "change",
  ...more,
});
