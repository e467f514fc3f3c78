import { type Milliseconds, objectKeyIn } from "@drover/controller";
import type { ResourceVersion, SeenChange, SeenIndex, SeenObject } from "@drover/kube";
import { callLua, type RedisConnection } from "@drover/queue";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { forget, hold, release, renew, write } from "./scripts.ts";
import { parsedJson } from "./parsed-json.ts";
import { recordOf, seenFrom } from "./seen-record.ts";

export interface StreamStoreOptions {
  readonly redis: RedisConnection;
  /** This bridge, for people. */
  readonly holder: string;
  /** How long a stream is held without being renewed. */
  readonly lease: Milliseconds;
}

/** Streams in Redis, each held by one bridge at a time. */
export interface StreamStore {
  /** Takes a stream to tell it to these listeners, unless another bridge holds it. */
  hold(stream: string, audience: Audience): Promise<HeldStream | HeldElsewhere>;
}

/** To whom a stream is told. */
export interface Audience {
  /** Which part of the kind is followed; of another part nothing was told. */
  readonly scope: string;
  readonly listeners: readonly string[];
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
  /** Fires when the stream is another's, or Redis another server, which may lack the end of what was told. */
  readonly lost: AbortSignal;
  renew(): Promise<void>;
  release(): Promise<void>;
  /** Nobody follows it any more: all that was known of it goes. */
  forget(): Promise<void>;
}

/** A write to a stream that is not ours any more, or on another server than the one that it was taken on. */
export class StreamLostError extends Error {
  override readonly name = "StreamLostError";
}

/** Records looked through at once. */
const perPiece = 500;

export function openStreamStore({ redis, holder, lease }: StreamStoreOptions): StreamStore {
  return {
    async hold(stream, audience) {
      const prefix = `{drover-stream:${stream}}`;
      const token = randomUUID();
      const answer = holdSchema.parse(await callLua(redis, hold, prefix, { token, holder, lease }));
      if (answer[0] === "held") return { heldBy: answer[1], for: answer[2] };
      const [, writes, position, toldBefore] = answer;
      const before = parsedJson(audienceSchema, toldBefore) ?? nobody;
      const toldToAll = position !== "" && includes(before, audience);
      const held = holding({ redis, prefix, token, lease, audience, writes });
      // Who listens no more is not told from now on, and must not count as told when it comes back.
      if (toldToAll && before.listeners.length > audience.listeners.length) {
        await held.seen.write({ put: [], forget: [], position: undefined, whole: true });
      }
      return { position: position === "" ? undefined : position, toldToAll, ...held };
    },
  };
}

const holdSchema = z.union([
  z.tuple([z.literal("held"), z.string(), z.number()]),
  z.tuple([z.literal("ours"), z.number(), z.string(), z.string()]),
]);

const audienceSchema = z.object({ scope: z.string(), listeners: z.array(z.string()) });
const nobody: Audience = { scope: "", listeners: [] };

const includes = (before: Audience, now: Audience): boolean =>
  before.scope === now.scope && now.listeners.every((id) => before.listeners.includes(id));

interface Hold {
  readonly redis: RedisConnection;
  readonly prefix: string;
  readonly token: string;
  readonly lease: Milliseconds;
  readonly audience: Audience;
  readonly writes: number;
}

function holding({ redis, prefix, token, lease, audience, ...before }: Hold) {
  const lost = new AbortController();
  let writes = before.writes;
  const lose = (): StreamLostError => {
    const error = new StreamLostError(
      "The stream is another bridge's by now, or Redis another server: it is taken up again from where Redis stands.",
    );
    lost.abort(error);
    return error;
  };
  const seen: SeenIndex = {
    get: async (keys) => {
      const records = keys.length === 0 ? [] : await redis.hmget(`${prefix}:seen`, ...keys);
      return keys.map((key, index) => {
        const record = records[index];
        return record == null ? undefined : seenFrom(key, record);
      });
    },
    write: async (change) => {
      lost.signal.throwIfAborted();
      const written = await callLua(redis, write, prefix, { token, writes, ...values(change, audience) });
      if (written !== 1) throw lose();
      writes += 1;
    },
    async *all() {
      let cursor = "0";
      do {
        const [next, flat] = await redis.hscan(`${prefix}:seen`, cursor, "COUNT", perPiece);
        cursor = next;
        yield recordsIn(flat);
      } while (cursor !== "0");
    },
  };
  return {
    seen,
    lost: lost.signal,
    renew: async () => {
      if ((await callLua(redis, renew, prefix, { token, writes, lease })) !== 1) lose();
    },
    release: async () => {
      await callLua(redis, release, prefix, { token });
    },
    forget: async () => {
      await callLua(redis, forget, prefix, { token });
    },
  };
}

const values = ({ put, forget: gone, position = "", whole }: SeenChange, audience: Audience) => ({
  put: put.length === 0 ? "" : JSON.stringify(put.flatMap((seen) => [seen.key, recordOf(seen)])),
  forget: gone.length === 0 ? "" : JSON.stringify(gone),
  position,
  told: whole ? JSON.stringify(audience) : "",
});

function recordsIn(flat: readonly string[]): readonly SeenObject[] {
  const found: SeenObject[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [member = "", record = ""] = [flat[at], flat[at + 1]];
    const key = objectKeyIn(member);
    const seen = key === undefined ? undefined : seenFrom(key, record);
    if (seen !== undefined) found.push(seen);
  }
  return found;
}
