import { type ObjectKey, silentLog } from "@drover/controller";
import {
  isObjectEvent,
  type KubeClient,
  type ReflectorEvent,
  type ResourceRef,
  runReflector,
} from "@drover/kube";
import { describeBucketChanges } from "./bucket-story.ts";
import { type BucketView, isReadyNow, viewOf } from "./bucket-view.ts";
import type { Narrator } from "./narrator.ts";
import type { S3Access } from "../servers/s3.ts";
import { bucketProbe } from "./bucket-probe.ts";

export interface WatchBucketsOptions {
  readonly client: KubeClient;
  readonly ref: ResourceRef;
  readonly s3: S3Access;
  readonly narrator: Narrator;
  readonly signal: AbortSignal;
  /** Called when an object is Ready and the S3 server has its bucket, whichever comes first. */
  readonly onReady: (key: ObjectKey, bucket: string) => void;
}

/**
 * Reports the changes of Bucket objects, and of their buckets on the S3 server, until the signal. Resolves once it has
 * listed the objects.
 */
export async function watchBuckets(options: WatchBucketsOptions): Promise<{ readonly done: Promise<void> }> {
  const { client, ref, s3, narrator, signal, onReady } = options;
  const views = new Map<ObjectKey, BucketView>();
  const there = new Map<ObjectKey, string>();
  const synced = Promise.withResolvers<undefined>();

  const judge = (key: ObjectKey): void => {
    const view = views.get(key);
    const bucket = there.get(key);
    if (view !== undefined && bucket === view.bucket && bucket !== undefined && isReadyNow(view))
      onReady(key, bucket);
  };
  const probe = bucketProbe(s3, narrator, signal, (key, bucket) => {
    there.set(key, bucket);
    judge(key);
  });
  const onEvent = (event: ReflectorEvent): void => {
    if (event.type === "synced") synced.resolve(undefined);
    if (!isObjectEvent(event)) return;
    const { key, object } = event;
    const after = event.type === "deleted" || object === undefined ? undefined : viewOf(object);
    for (const { text, tone } of describeBucketChanges(views.get(key), after))
      narrator.print(`${key}: ${text}`, tone);
    if (after === undefined) {
      views.delete(key);
      there.delete(key);
    } else views.set(key, after);
    probe(key, after);
    judge(key);
  };
  const { done } = runReflector({
    client,
    ref,
    signal,
    log: silentLog,
    metadataOnly: false,
    onEvents: (events) => events.forEach(onEvent),
  });
  await Promise.race([synced.promise, done]);
  signal.throwIfAborted();
  return { done };
}
