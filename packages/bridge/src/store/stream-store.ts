import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { IndexEntry, ResourceVersion, SeenChange, SeenIndex, SeenObject } from "@drover/kube";
import { callLua, maxJsonBytes, maxListItems, splitIntoBatches, type RedisConnection } from "@drover/queue";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { parsedJson } from "./parsed-json.ts";
import { writeBuffer } from "./write-buffer.ts";
import { bridgeScripts } from "../scripts/bridge-scripts.ts";
import { recordOf, parseRecord } from "./seen-record.ts";
import type { BridgeGroup } from "../streams/bridge-group.ts";
import { behindSince, dropOwedTo, type OwedWakes, owedWakes } from "../queues/owed-wakes.ts";
import { scanRecords } from "./scan-records.ts";

export interface StreamStoreOptions {
  readonly redis: RedisConnection;
  readonly group: BridgeGroup;
  /** The name of this bridge, for people. */
  readonly holder: string;
  /** How long a stream is held without a renewal. */
  readonly lease: Milliseconds;
  /** Most keys with recorded wakes, for a queue that refuses them. If there are more, every key is woken later. */
  readonly mostOwed?: number;
}

/** Streams in Redis, each held by one bridge at a time. */
export interface StreamStore {
  /** Takes a stream for these subscribers, unless another bridge holds it. */
  hold(stream: string, subscriberSet: SubscriberSet): Promise<HeldStream | HeldElsewhere>;
  /** All streams that were held and not forgotten since. */
  known(): Promise<readonly string[]>;
}

/** The subscribers of a stream. */
export interface SubscriberSet {
  /** The part of the kind that is followed; objects of another part were not emitted. */
  readonly scope: string;
  readonly listeners: readonly string[];
  /** The queues of the keys that they wake. */
  readonly queues: readonly string[];
}

export interface HeldElsewhere {
  readonly heldBy: string;
  /** At most, unless the lease is renewed. */
  readonly for: Milliseconds;
}

/** A stream that this bridge holds, until it is lost. */
export interface HeldStream {
  /** All changes up to this version were emitted. */
  readonly position: ResourceVersion | undefined;
  /** True if they were emitted to all current subscribers. */
  readonly emittedToAll: boolean;
  readonly seen: SeenIndex;
  /** The wakes that the stream owes that queue: it has not accepted them. */
  owedTo(queue: string): OwedWakes;
  /** Writes index entries. To be called before keys are woken, and before the seen index is written. */
  updateIndexes(updates: readonly IndexUpdate[]): Promise<void>;
  /**
   * Fires when another bridge holds the stream, when Redis is another server, which may lack the last changes, or when
   * a write fails.
   */
  readonly lost: AbortSignal;
  renew(): Promise<void>;
  release(): Promise<void>;
  /** Deletes all data of the stream. To be called when it has no subscribers any more. */
  forget(): Promise<void>;
}

/** All entries of an object in reverse indexes from now on, by index; see `openReverseIndexes`. */
export interface IndexUpdate {
  readonly key: ObjectKey;
  readonly entries: Readonly<Record<string, readonly IndexEntry[]>>;
}

/** A write to a stream that this bridge has lost, or on another server than the one on which it was taken. */
export class StreamLostError extends Error {
  override readonly name = "StreamLostError";
}

export function openStreamStore({ redis, group, holder, lease, mostOwed }: StreamStoreOptions): StreamStore {
  return {
    async hold(stream, subscriberSet) {
      const prefix = group.prefixOf(stream);
      await redis.sadd(group.streams, stream);
      const token = randomUUID();
      const answer = holdSchema.parse(
        await callLua(redis, bridgeScripts.hold, prefix, { token, holder, lease }),
      );
      if (answer[0] === "held") return { heldBy: answer[1], for: answer[2] };
      const [, writes, position, subscribersBefore] = answer;
      const before = parsedJson(storedSubscribersSchema, subscribersBefore) ?? noSubscribers;
      const emittedToAll = position !== "" && includes(before, subscriberSet);
      const [marks, time] = await Promise.all([redis.hgetall(`${prefix}:behind`), redis.time()]);
      const behind = behindSince(marks, Date.now() - millisecondsOf(time));
      const held = heldStream({
        redis,
        group,
        stream,
        prefix,
        token,
        lease,
        subscriberSet,
        writes,
        behind,
        mostOwed,
      });
      const left = [...behind.keys()].filter((queue) => !subscriberSet.queues.includes(queue));
      if (left.length > 0) await dropOwedTo({ redis, prefix, token }, left);
      const gone = before.listeners.filter((id) => !subscriberSet.listeners.includes(id));
      if (gone.length > 0) await held.drop(gone);
      // A subscriber that is gone misses events from now on, so it must not count as up to date when it returns.
      if (emittedToAll && gone.length > 0) {
        await held.seen.write({ put: [], forget: [], position: undefined, whole: true });
      }
      return { position: position === "" ? undefined : position, emittedToAll, ...held };
    },
    known: () => redis.smembers(group.streams),
  };
}

/** Converts the reply of `TIME`: seconds and microseconds. */
const millisecondsOf = ([seconds = 0, micros = 0]: readonly (number | string)[]): Milliseconds =>
  Number(seconds) * 1_000 + Number(micros) / 1_000;

const holdSchema = z.union([
  z.tuple([z.literal("held"), z.string(), z.number()]),
  z.tuple([z.literal("ours"), z.number(), z.string(), z.string()]),
]);

const storedSubscribersSchema = z.object({ scope: z.string(), listeners: z.array(z.string()) });
type StoredSubscribers = z.output<typeof storedSubscribersSchema>;
const noSubscribers: StoredSubscribers = { scope: "", listeners: [] };

const includes = (before: StoredSubscribers, now: SubscriberSet): boolean =>
  before.scope === now.scope && now.listeners.every((id) => before.listeners.includes(id));

interface Hold {
  readonly redis: RedisConnection;
  readonly group: BridgeGroup;
  readonly stream: string;
  readonly prefix: string;
  readonly token: string;
  readonly lease: Milliseconds;
  readonly subscriberSet: SubscriberSet;
  readonly writes: number;
  /** By queue that is behind: since when. */
  readonly behind: ReadonlyMap<string, number>;
  readonly mostOwed: number | undefined;
}

function heldStream(hold: Hold) {
  const { redis, group, stream, prefix, token, lease } = hold;
  const lost = new AbortController();
  const lose = (cause?: unknown): StreamLostError => {
    const error = new StreamLostError(
      "This bridge has lost the stream: another bridge holds it, Redis is another server, or Redis has not answered. The stream is taken again, at the position that Redis has.",
      { cause },
    );
    lost.abort(error);
    return error;
  };
  const index = indexOf(hold, lost.signal, lose);
  const oursOnly = async (answer: Promise<unknown>): Promise<void> => {
    if ((await answer) !== 1) throw lose();
  };
  return {
    seen: index.seen,
    lost: lost.signal,
    owedTo: (queue: string) =>
      owedWakes({ redis, prefix, token, queue, since: hold.behind.get(queue), lose, most: hold.mostOwed }),
    updateIndexes: async (updates: readonly IndexUpdate[]) => {
      lost.signal.throwIfAborted();
      for (const piece of updatePieces(updates)) {
        await oursOnly(callLua(redis, bridgeScripts.updateIndexes, prefix, { token, filings: piece }));
      }
    },
    drop: (indexIds: readonly string[]) =>
      oursOnly(callLua(redis, bridgeScripts.dropIndexes, prefix, { token, files: JSON.stringify(indexIds) })),
    renew: async () => {
      if ((await callLua(redis, bridgeScripts.renew, prefix, { token, writes: index.writes(), lease })) !== 1)
        lose();
    },
    release: async () => {
      await index.flush().catch(() => undefined); // these events are emitted again from an earlier position
      await callLua(redis, bridgeScripts.release, prefix, { token });
    },
    forget: async () => {
      index.drop();
      await callLua(redis, bridgeScripts.forget, prefix, { token });
      await redis.srem(group.streams, stream);
    },
  };
}

/** The seen index of a stream, as it is in Redis, or will be within a moment. */
function indexOf(hold: Hold, lost: AbortSignal, lose: (cause?: unknown) => StreamLostError) {
  const { redis, prefix } = hold;
  const cache = recordCache();
  const writes = writesTo(hold, lost, lose);
  const flush = (): Promise<void> => writes.inTurn(buffer.drain());
  const buffer = writeBuffer(cache.get, () => void flush());
  lost.addEventListener("abort", buffer.drop);
  const seen: SeenIndex = {
    get: async (keys) => {
      const asked = keys.filter((key) => !cache.has(key));
      const records = asked.length === 0 ? [] : await redis.hmget(`${prefix}:seen`, ...asked);
      const found = new Map(
        asked.map((key, i) => [key, records[i] == null ? undefined : parseRecord(key, records[i])]),
      );
      const answer = keys.map((key) => (found.has(key) ? found.get(key) : cache.get(key)));
      cache.remember(found);
      return answer;
    },
    write: async (change) => {
      lost.throwIfAborted();
      const due = buffer.add(change);
      cache.remember(change.put.map((one) => [one.key, one]));
      cache.remember(change.forget.map((key) => [key, undefined]));
      if (due !== undefined) await writes.inTurn(due);
    },
    async *allBut(keys) {
      await flush();
      yield* scanRecords(redis, prefix, keys);
    },
  };
  return { seen, flush, drop: buffer.drop, writes: writes.done };
}

/** Writes to a stream's index, one after the other. Each carries the number of earlier writes. */
function writesTo(
  { redis, prefix, token, subscriberSet, writes }: Hold,
  lost: AbortSignal,
  lose: (cause?: unknown) => StreamLostError,
) {
  let done = writes;
  let last: Promise<void> = Promise.resolve();
  const written = async (change: SeenChange): Promise<void> => {
    lost.throwIfAborted();
    for (const piece of changePieces(change)) {
      // Buffered changes are not emitted again. If they cannot be written, no later write may follow.
      const args = { token, writes: done, ...values(piece, subscriberSet) };
      const answer = await callLua(redis, bridgeScripts.write, prefix, args).catch((cause: unknown) => {
        throw lose(cause);
      });
      if (answer !== 1) throw lose();
      done += 1;
    }
  };
  return {
    done: () => done,
    /** Resolves when the change is written; without a change, when all earlier writes have ended, also by a failure. */
    inTurn(change: SeenChange | undefined): Promise<void> {
      const before = last.catch(() => undefined);
      if (change === undefined) return before;
      const turn = before.then(() => written(change));
      turn.catch(() => undefined); // no caller waits for buffered changes
      return (last = turn);
    },
  };
}

/** Most records in the cache, a few MB of memory: an object that has changed is likely to change again. */
const maxCachedRecords = 10_000;

/** A cache of records. While a bridge holds the stream, no other process writes them, so Redis need not be asked. */
function recordCache() {
  /** Undefined for an object that was not emitted, or is gone. */
  const byKey = new Map<ObjectKey, SeenObject | undefined>();
  return {
    has: (key: ObjectKey): boolean => byKey.has(key),
    get: (key: ObjectKey): SeenObject | undefined => byKey.get(key),
    remember(records: Iterable<readonly [ObjectKey, SeenObject | undefined]>): void {
      for (const [key, one] of records) {
        byKey.delete(key);
        byKey.set(key, one);
      }
      for (const key of byKey.keys()) {
        if (byKey.size <= maxCachedRecords) return;
        byKey.delete(key);
      }
    },
  };
}

/** Splits a change into changes that a script accepts, to be written in this order: the last one has the position. */
function changePieces(change: SeenChange): readonly SeenChange[] {
  const some = splitIntoBatches(change.put, {
    maxItems: maxListItems,
    size: maxJsonBytes / 2,
    sizeOf: (seen) => Buffer.byteLength(recordOf(seen)) + seen.key.length,
  });
  const last = some.at(-1) ?? [];
  const before = some.slice(0, -1).map((put) => ({ put, forget: [], position: undefined, whole: false }));
  return [...before, { ...change, put: last }];
}

const values = ({ put, forget: gone, position = "", whole }: SeenChange, subscriberSet: SubscriberSet) => ({
  put: put.length === 0 ? "" : JSON.stringify(put.flatMap((seen) => [seen.key, recordOf(seen)])),
  forget: gone.length === 0 ? "" : JSON.stringify(gone),
  position,
  emittedTo: whole ? JSON.stringify({ scope: subscriberSet.scope, listeners: subscriberSet.listeners }) : "",
});

/** JSON lists that scripts accept. */
function updatePieces(updates: readonly IndexUpdate[]): readonly string[] {
  const texts = updates.map(({ key, entries }) =>
    JSON.stringify([
      key,
      Object.fromEntries(
        Object.entries(entries)
          .filter(([, terms]) => terms.length > 0)
          .map(([index, terms]) => [index, terms.map(({ term, note }) => [term, note])]),
      ),
    ]),
  );
  const limits = { maxItems: maxListItems, size: maxJsonBytes / 2 };
  const some = splitIntoBatches(texts, { ...limits, sizeOf: (text) => Buffer.byteLength(text) + 1 });
  return some.map((piece) => `[${piece.join()}]`);
}
