import { silentLog } from "@drover/controller";
import { builtin, type KubeClient, type KubeObject, memorySeenIndex, type WatchOptions } from "@drover/kube";
import type { Subscription } from "../mapping/subscription.ts";
import type { Wake, WorkQueue } from "@drover/queue";
import type { ReverseIndexes } from "../store/reverse-indexes.ts";
import type { HeldStream } from "../store/stream-store.ts";
import type { OwedWakes } from "../queues/owed-wakes.ts";
import type { StreamPlan } from "./plan-streams.ts";
import { expect, it } from "vitest";
import { followStream } from "./follow-stream.ts";

const ref = builtin.configMap;
const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "n", uid: `u-${name}`, resourceVersion },
});
const self: Subscription = { id: "self", for: ref, map: { by: "self" }, copies: true };
const all: Subscription = { id: "all", for: ref, map: { by: "presence", within: "cluster" } };

/**
 * A stream with a first list of version 7, which has `a` at version 3. `change` is an event of its watch, `end` its end.
 *
 * @param listed the objects that a comparison lists, at once after the watch has ended.
 */
function following(
  wake: (wakes: readonly Wake[]) => Promise<void> = () => Promise.resolve(),
  listed?: readonly KubeObject[],
) {
  const story: string[] = [];
  const woken: Wake[] = [];
  const lost = new AbortController();
  let send: (one: KubeObject | undefined) => void = () => undefined;
  const names = (wakes: readonly { readonly key: string }[]): string => wakes.map(({ key }) => key).join();
  async function* watch(_ref: unknown, { onOpen, signal }: WatchOptions) {
    onOpen?.();
    yield [
      { type: "ADDED", object: object("a", "3") },
      { type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: true },
    ];
    for (;;) {
      const next = Promise.withResolvers<KubeObject | undefined>();
      send = next.resolve;
      signal?.throwIfAborted();
      signal?.addEventListener("abort", () => next.reject(signal.reason));
      const one = await next.promise;
      if (one === undefined) return;
      yield [{ type: "ADDED", object: one }];
    }
  }
  const seen = memorySeenIndex();
  const held = {
    lost: lost.signal,
    position: undefined,
    emittedToAll: false,
    updateIndexes: (updates: readonly { readonly key: string }[]) =>
      Promise.resolve(void story.push(`index ${names(updates)}`)),
    seen: {
      ...seen,
      write: (change: Parameters<typeof seen.write>[0]) => {
        if (change.position !== undefined) story.push(`at ${change.position}`);
        return seen.write(change);
      },
    },
    owedTo: (): Partial<OwedWakes> => ({
      since: undefined,
      add: () => Promise.resolve(void story.push("owe")),
    }),
  } as unknown as HeldStream;
  const subscribers = [self, all].map((subscription) => ({ controller: "c", queue: "q", subscription }));
  const plan: StreamPlan = {
    stream: "s",
    ref,
    namespace: undefined,
    labelSelector: undefined,
    subscribers,
    subscriberSet: { scope: "", listeners: ["self", "all"], queues: ["q"] },
  };
  const queue = {
    time: () => Promise.resolve({ incarnation: "e", at: 5 }),
    wake: async (wakes: readonly Wake[]) => {
      story.push(`wake ${names(wakes)}`);
      await wake(wakes);
      woken.push(...wakes);
    },
  } as unknown as WorkQueue;
  const stream = followStream({
    plan,
    held,
    indexes: {} as ReverseIndexes,
    queueOf: () => queue,
    log: silentLog,
    compareEvery: listed === undefined ? 1_800_000 : 1,
    client: {
      watch,
      list: () => Promise.resolve({ items: listed, resourceVersion: "7" }),
    } as unknown as KubeClient,
  });
  return {
    stream,
    story,
    woken,
    change: (name: string, version: string) => {
      send(object(name, version));
    },
    end: () => send(undefined),
  };
}

it("the indexes are updated before an event's keys are woken, and the position of the stream moves only after both", async () => {
  const { stream, story, change } = following();
  await expect.poll(() => story.at(-1)).toBe("at 7");
  change("b", "8");
  await expect.poll(() => story.at(-1)).toBe("at 8");
  expect(story).toEqual(["index n/a", "wake n/a", "at 7", "index n/b", "wake n/b", "at 8"]);
  expect(stream.counts).toEqual({ wakes: 2, events: 2, missed: 0 });
  await stream.stop();
});

it("a change that only a comparison finds is counted as missed, and wakes its keys", async () => {
  const { stream, story, end } = following(undefined, [object("a", "3"), object("b", "6")]);
  await expect.poll(() => story.at(-1)).toBe("at 7");
  end();
  await expect.poll(() => stream.counts.missed).not.toBe(0);
  expect(stream.counts).toEqual({ wakes: 2, events: 2, missed: 1 });
  expect(story).toContain("wake n/b");
  await stream.stop();
});

it("a wake with a cached object carries a time before the object was created, for listed and newer objects", async () => {
  const { stream, woken, story, change } = following();
  await expect.poll(() => story.at(-1)).toBe("at 7");
  change("b", "8");
  await expect.poll(() => woken).toHaveLength(2);
  const newestAfter = { incarnation: "e", at: 5 };
  expect(woken).toMatchObject(
    [object("a", "3"), object("b", "8")].map((one) => ({ cachedObject: JSON.stringify(one), newestAfter })),
  );
  await stream.stop();
});

it("a stream that stops delivers the events in progress", async () => {
  const [asked, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const { stream, story, woken } = following(async () => {
    asked.resolve(undefined);
    await answered.promise;
  });
  await asked.promise;
  const stopped = stream.stop().then(() => story.push("stopped"));
  answered.resolve(undefined);
  await stopped;
  expect(woken).toHaveLength(1);
  expect(story.at(-1)).toBe("stopped");
  expect(stream.reflector.status().phase).toBe("stopped");
});
