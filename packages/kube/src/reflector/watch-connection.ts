import type { Milliseconds } from "@drover/controller";
import type { KubeClient, WatchOptions } from "../client/client.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";
import { withoutManagedFields } from "../objects/kube-object.ts";
import type { Timers } from "@drover/timers";
import type { WatchFrame } from "../client/watch-frames.ts";
import { failureOf } from "./failure.ts";
import type { StreamInput } from "./stream.ts";

/** A watch that ends if it becomes silent. Its outcomes are inputs of the stream. */
export interface WatchConnection {
  /** `opened`, `failed`, or `silent`. */
  open(): Promise<StreamInput>;
  /** `frames`, `closed`, `failed`, or `silent`. Without a call, nothing more is read (back-pressure). */
  read(): Promise<StreamInput>;
  close(): void;
}

export interface WatchConnectionOptions {
  readonly client: Pick<KubeClient, "watch">;
  readonly ref: ResourceRef;
  readonly watch: WatchOptions & { readonly signal: AbortSignal };
  readonly timers: Timers;
  /** How long to collect the creations that arrive in a burst. */
  readonly gatherCreated?: Milliseconds | undefined;
  /** A watch from which no byte has arrived for this time, while we read, is silent. */
  readonly silence: Milliseconds;
  /** Called for every chunk that arrives. */
  readonly onActivity: () => void;
}

/** Most frames that are collected. */
const maxGathered = 100;

export function watchConnection(options: WatchConnectionOptions): WatchConnection {
  const { client, ref, watch, timers, silence, gatherCreated = 0 } = options;
  const ending = new AbortController();
  const opened = Promise.withResolvers<StreamInput>();
  let lastActivityAt = timers.now();
  const frames = client
    .watch(ref, {
      ...watch,
      signal: AbortSignal.any([watch.signal, ending.signal]),
      onActivity: () => {
        lastActivityAt = timers.now();
        options.onActivity();
      },
      onOpen: () => opened.resolve({ type: "opened" }),
    })
    [Symbol.asyncIterator]();
  let pending: Promise<StreamInput> | undefined;
  const next = (): Promise<StreamInput> => (pending ??= frames.next().then(inputOf, failedOf));
  const unlessSilent = async (outcomes: readonly Promise<StreamInput>[]): Promise<StreamInput> => {
    lastActivityAt = timers.now();
    const dog = watchdog(timers, silence, () => lastActivityAt);
    const first = await Promise.race([...outcomes, dog.silent]); // none of them rejects
    dog.cancel();
    return first;
  };
  let lastReadAt = -Infinity;
  /** In a burst of creations, adds those that arrive in the next moment, and the first other frames. */
  const gathered = async (first: FramesInput): Promise<FramesInput> => {
    const isBurst = gatherCreated > 0 && timers.now() - lastReadAt <= gatherCreated;
    lastReadAt = timers.now();
    if (!isBurst) return first;
    const over = Promise.withResolvers<undefined>();
    const cancel = timers.after(gatherCreated, "gathering", () => over.resolve(undefined));
    const frames = [...first.frames];
    while (frames.length < maxGathered && frames.at(-1)?.type === "ADDED") {
      const more = await Promise.race([next(), over.promise]); // neither rejects
      if (more?.type !== "frames") break;
      pending = undefined;
      frames.push(...more.frames);
    }
    cancel();
    lastReadAt = timers.now();
    return { type: "frames", frames };
  };
  return {
    open: () => unlessSilent([opened.promise, next()]),
    read: async () => {
      const input = await unlessSilent([next()]);
      if (input.type !== "frames") return input;
      pending = undefined;
      return gathered(input);
    },
    close: () => ending.abort(),
  };
}

type FramesInput = Extract<StreamInput, { type: "frames" }>;

const inputOf = (result: IteratorResult<readonly WatchFrame[], unknown>): StreamInput =>
  result.done === true ? { type: "closed" } : { type: "frames", frames: result.value.map(leaner) };

const leaner = (frame: WatchFrame): WatchFrame =>
  "object" in frame ? { ...frame, object: withoutManagedFields(frame.object) } : frame;

const failedOf = (error: unknown): StreamInput => ({ type: "failed", failure: failureOf(error) });

/** Resolves when no byte has arrived for the time of silence. */
function watchdog(timers: Timers, silence: Milliseconds, lastActivityAt: () => Milliseconds) {
  const { promise: silent, resolve } = Promise.withResolvers<StreamInput>();
  let cancel = timers.after(silence, "silence", check);
  function check(): void {
    const left = lastActivityAt() + silence - timers.now();
    if (left <= 0) resolve({ type: "silent" });
    else cancel = timers.after(left, "silence", check);
  }
  return { silent, cancel: () => cancel() };
}
