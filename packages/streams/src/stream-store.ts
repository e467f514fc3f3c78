import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { FiledTerm, ResourceVersion, SeenChange, SeenIndex, SeenObject } from "@drover/kube";
import { callLua, jsonBytes, mostListed, pieces, type RedisConnection } from "@drover/queue";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { parsedJson } from "./parsed-json.ts";
import { keptChanges } from "./kept-changes.ts";
import { dropFiles, fileUnder, forget, hold, release, renew, write } from "./scripts.ts";
import { recordOf, seenFrom } from "./seen-record.ts";
import type { Fleet } from "./fleet.ts";
import { behindSince, dropOwedTo, type OwedWakes, owedWakes } from "./owed-wakes.ts";
import { seenBut } from "./stream-keys.ts";

export interface StreamStoreOptions {
  readonly redis: RedisConnection;
  readonly fleet: Fleet;
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
  hold(stream: string, audience: Audience): Promise<HeldStream | HeldElsewhere>;
  /** All streams that were held and not forgotten since. */
  known(): Promise<readonly string[]>;
}

/** The subscribers of a stream. */
export interface Audience {
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
  readonly toldToAll: boolean;
  readonly seen: SeenIndex;
  /** The wakes that the stream owes that queue: it has not accepted them. */
  owedTo(queue: string): OwedWakes;
  /** Writes index entries. To be called before keys are woken, and before the seen index is written. */
  file(filings: readonly Filed[]): Promise<void>;
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

/** All entries of an object in reverse indexes from now on, by index; see `openFiles`. */
export interface Filed {
  readonly key: ObjectKey;
  readonly files: Readonly<Record<string, readonly FiledTerm[]>>;
}

/** A write to a stream that this bridge has lost, or on another server than the one on which it was taken. */
export class StreamLostError extends Error {
  override readonly name = "StreamLostError";
}

export function openStreamStore({ redis, fleet, holder, lease, mostOwed }: StreamStoreOptions): StreamStore {
  return {
    async hold(stream, audience) {
      const prefix = fleet.prefixOf(stream);
      await redis.sadd(fleet.streams, stream);
      const token = randomUUID();
      const answer = holdSchema.parse(await callLua(redis, hold, prefix, { token, holder, lease }));
      if (answer[0] === "held") return { heldBy: answer[1], for: answer[2] };
      const [, writes, position, toldBefore] = answer;
      const before = parsedJson(audienceSchema, toldBefore) ?? nobody;
      const toldToAll = position !== "" && includes(before, audience);
      const [marks, time] = await Promise.all([redis.hgetall(`${prefix}:behind`), redis.time()]);
      const behind = behindSince(marks, Date.now() - millisecondsOf(time));
      const held = holding({
        redis,
        fleet,
        stream,
        prefix,
        token,
        lease,
        audience,
        writes,
        behind,
        mostOwed,
      });
      const left = [...behind.keys()].filter((queue) => !audience.queues.includes(queue));
      if (left.length > 0) await dropOwedTo({ redis, prefix, token }, left);
      const gone = before.listeners.filter((id) => !audience.listeners.includes(id));
      if (gone.length > 0) await held.drop(gone);
      // A subscriber that is gone misses events from now on, so it must not count as up to date when it returns.
      if (toldToAll && gone.length > 0) {
        await held.seen.write({ put: [], forget: [], position: undefined, whole: true });
      }
      return { position: position === "" ? undefined : position, toldToAll, ...held };
    },
    known: () => redis.smembers(fleet.streams),
  };
}

/** Converts the reply of `TIME`: seconds and microseconds. */
const millisecondsOf = ([seconds = 0, micros = 0]: readonly (number | string)[]): Milliseconds =>
  Number(seconds) * 1_000 + Number(micros) / 1_000;

const holdSchema = z.union([
  z.tuple([z.literal("held"), z.string(), z.number()]),
  z.tuple([z.literal("ours"), z.number(), z.string(), z.string()]),
]);

const audienceSchema = z.object({ scope: z.string(), listeners: z.array(z.string()) });
type Told = z.output<typeof audienceSchema>;
const nobody: Told = { scope: "", listeners: [] };

const includes = (before: Told, now: Audience): boolean =>
  before.scope === now.scope && now.listeners.every((id) => before.listeners.includes(id));

interface Hold {
  readonly redis: RedisConnection;
  readonly fleet: Fleet;
  readonly stream: string;
  readonly prefix: string;
  readonly token: string;
  readonly lease: Milliseconds;
  readonly audience: Audience;
  readonly writes: number;
  /** By queue that is behind: since when. */
  readonly behind: ReadonlyMap<string, number>;
  readonly mostOwed: number | undefined;
}

function holding(hold: Hold) {
  const { redis, fleet, stream, prefix, token, lease } = hold;
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
    file: async (filings: readonly Filed[]) => {
      lost.signal.throwIfAborted();
      for (const piece of filingPieces(filings)) {
        await oursOnly(callLua(redis, fileUnder, prefix, { token, filings: piece }));
      }
    },
    drop: (files: readonly string[]) =>
      oursOnly(callLua(redis, dropFiles, prefix, { token, files: JSON.stringify(files) })),
    renew: async () => {
      if ((await callLua(redis, renew, prefix, { token, writes: index.writes(), lease })) !== 1) lose();
    },
    release: async () => {
      await index.settle().catch(() => undefined); // these events are emitted again from an earlier position
      await callLua(redis, release, prefix, { token });
    },
    forget: async () => {
      index.drop();
      await callLua(redis, forget, prefix, { token });
      await redis.srem(fleet.streams, stream);
    },
  };
}

/** The seen index of a stream, as it is in Redis, or will be within a moment. */
function indexOf(hold: Hold, lost: AbortSignal, lose: (cause?: unknown) => StreamLostError) {
  const { redis, prefix } = hold;
  const lately = recentlyTold();
  const writes = writesTo(hold, lost, lose);
  const settle = (): Promise<void> => writes.inTurn(kept.all());
  const kept = keptChanges(lately.get, () => void settle());
  lost.addEventListener("abort", kept.drop);
  const seen: SeenIndex = {
    get: async (keys) => {
      const asked = keys.filter((key) => !lately.has(key));
      const records = asked.length === 0 ? [] : await redis.hmget(`${prefix}:seen`, ...asked);
      const found = new Map(
        asked.map((key, i) => [key, records[i] == null ? undefined : seenFrom(key, records[i])]),
      );
      const answer = keys.map((key) => (found.has(key) ? found.get(key) : lately.get(key)));
      lately.remember(found);
      return answer;
    },
    write: async (change) => {
      lost.throwIfAborted();
      const due = kept.take(change);
      lately.remember(change.put.map((one) => [one.key, one]));
      lately.remember(change.forget.map((key) => [key, undefined]));
      if (due !== undefined) await writes.inTurn(due);
    },
    async *allBut(keys) {
      await settle();
      yield* seenBut(redis, prefix, keys);
    },
  };
  return { seen, settle, drop: kept.drop, writes: writes.done };
}

/** Writes to a stream's index, one after the other. Each carries the number of earlier writes. */
function writesTo(
  { redis, prefix, token, audience, writes }: Hold,
  lost: AbortSignal,
  lose: (cause?: unknown) => StreamLostError,
) {
  let done = writes;
  let last: Promise<void> = Promise.resolve();
  const written = async (change: SeenChange): Promise<void> => {
    lost.throwIfAborted();
    for (const piece of changePieces(change)) {
      // Buffered changes are not emitted again. If they cannot be written, no later write may follow.
      const args = { token, writes: done, ...values(piece, audience) };
      const answer = await callLua(redis, write, prefix, args).catch((cause: unknown) => {
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
const atHand = 10_000;

/** A cache of records. While a bridge holds the stream, no other process writes them, so Redis need not be asked. */
function recentlyTold() {
  /** Undefined for an object that was not emitted, or is gone. */
  const byKey = new Map<ObjectKey, SeenObject | undefined>();
  return {
    has: (key: ObjectKey): boolean => byKey.has(key),
    get: (key: ObjectKey): SeenObject | undefined => byKey.get(key),
    remember(told: Iterable<readonly [ObjectKey, SeenObject | undefined]>): void {
      for (const [key, one] of told) {
        byKey.delete(key);
        byKey.set(key, one);
      }
      for (const key of byKey.keys()) {
        if (byKey.size <= atHand) return;
        byKey.delete(key);
      }
    },
  };
}

/** Splits a change into changes that a script accepts, to be written in this order: the last one has the position. */
function changePieces(change: SeenChange): readonly SeenChange[] {
  const some = pieces(change.put, {
    most: mostListed,
    size: jsonBytes / 2,
    sizeOf: (seen) => Buffer.byteLength(recordOf(seen)) + seen.key.length,
  });
  const last = some.at(-1) ?? [];
  const before = some.slice(0, -1).map((put) => ({ put, forget: [], position: undefined, whole: false }));
  return [...before, { ...change, put: last }];
}

const values = ({ put, forget: gone, position = "", whole }: SeenChange, audience: Audience) => ({
  put: put.length === 0 ? "" : JSON.stringify(put.flatMap((seen) => [seen.key, recordOf(seen)])),
  forget: gone.length === 0 ? "" : JSON.stringify(gone),
  position,
  told: whole ? JSON.stringify({ scope: audience.scope, listeners: audience.listeners }) : "",
});

/** JSON lists that scripts accept. */
function filingPieces(filings: readonly Filed[]): readonly string[] {
  const texts = filings.map(({ key, files }) =>
    JSON.stringify([
      key,
      Object.fromEntries(
        Object.entries(files)
          .filter(([, terms]) => terms.length > 0)
          .map(([file, terms]) => [file, terms.map(({ term, note }) => [term, note])]),
      ),
    ]),
  );
  const limits = { most: mostListed, size: jsonBytes / 2 };
  const some = pieces(texts, { ...limits, sizeOf: (text) => Buffer.byteLength(text) + 1 });
  return some.map((piece) => `[${piece.join()}]`);
}
