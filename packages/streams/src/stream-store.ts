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
  /** This bridge, for people. */
  readonly holder: string;
  /** How long a stream is held without being renewed. */
  readonly lease: Milliseconds;
  /** Keys whose wakes are recorded for a queue that does not take them; beyond that it is told everything. */
  readonly mostOwed?: number;
}

/** Streams in Redis, each held by one bridge at a time. */
export interface StreamStore {
  /** Takes a stream to tell it to these listeners, unless another bridge holds it. */
  hold(stream: string, audience: Audience): Promise<HeldStream | HeldElsewhere>;
  /** All that were ever held and not forgotten. */
  known(): Promise<readonly string[]>;
}

/** To whom a stream is told. */
export interface Audience {
  /** Which part of the kind is followed; of another part nothing was told. */
  readonly scope: string;
  readonly listeners: readonly string[];
  /** The queues that they wake keys of. */
  readonly queues: readonly string[];
}

export interface HeldElsewhere {
  readonly heldBy: string;
  /** At most, unless it is renewed. */
  readonly for: Milliseconds;
}

/** A stream that is ours, until it is lost. */
export interface HeldStream {
  /** Everything up to here was told. */
  readonly position: ResourceVersion | undefined;
  /** To all who listen now. */
  readonly toldToAll: boolean;
  readonly seen: SeenIndex;
  /** What the stream owes that queue: wakes that it did not take. */
  owedTo(queue: string): OwedWakes;
  /** To be done before anybody is woken, and before the index says that it was. */
  file(filings: readonly Filed[]): Promise<void>;
  /** Fires when the stream is another's, or Redis another server, which may lack the end of what was told. */
  readonly lost: AbortSignal;
  renew(): Promise<void>;
  release(): Promise<void>;
  /** Nobody follows it any more: all that was known of it goes. */
  forget(): Promise<void>;
}

/** All that an object is to be found under from now on, by the file; see `openFiles`. */
export interface Filed {
  readonly key: ObjectKey;
  readonly files: Readonly<Record<string, readonly FiledTerm[]>>;
}

/** A write to a stream that is not ours any more, or on another server than the one that it was taken on. */
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
      // Who listens no more is not told from now on, and must not count as told when it comes back.
      if (toldToAll && gone.length > 0) {
        await held.seen.write({ put: [], forget: [], position: undefined, whole: true });
      }
      return { position: position === "" ? undefined : position, toldToAll, ...held };
    },
    known: () => redis.smembers(fleet.streams),
  };
}

/** The answer of `TIME`: seconds and microseconds. */
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
  /** Since when queues are behind. */
  readonly behind: ReadonlyMap<string, number>;
  readonly mostOwed: number | undefined;
}

function holding(hold: Hold) {
  const { redis, fleet, stream, prefix, token, lease } = hold;
  const lost = new AbortController();
  const lose = (cause?: unknown): StreamLostError => {
    const error = new StreamLostError(
      "The stream is another bridge's by now, Redis another server, or it has not answered: it is taken up again from where Redis stands.",
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
      await index.settle().catch(() => undefined); // it is told again from a little earlier on
      await callLua(redis, release, prefix, { token });
    },
    forget: async () => {
      index.drop();
      await callLua(redis, forget, prefix, { token });
      await redis.srem(fleet.streams, stream);
    },
  };
}

/** What was told of a stream's objects, as it is in Redis, or will be within a moment. */
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

/** Writes to a stream's index, one after the other: each says how many there were before it. */
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
      // What was kept is told by nobody any more: where it may not be written, nothing that comes after it must be.
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
    /** Resolves when it is written; for nothing, when all before is, or has failed. */
    inTurn(change: SeenChange | undefined): Promise<void> {
      const before = last.catch(() => undefined);
      if (change === undefined) return before;
      const turn = before.then(() => written(change));
      turn.catch(() => undefined); // what is kept for a while nobody waits for
      return (last = turn);
    },
  };
}

/** Of so many objects the last change is at hand, a few MB of memory: what changes once is likely to change again. */
const atHand = 10_000;

/** What was told last, where it is at hand: nobody else writes while a bridge holds the stream, so Redis need not be asked for it. */
function recentlyTold() {
  /** Nothing of what was not told of, or is gone. */
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

/** A change as changes that a script takes, one after the other: the position comes with the last. */
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

/** As JSON lists that scripts take. */
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
