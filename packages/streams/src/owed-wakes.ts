import { type Milliseconds, objectKeyIn } from "@drover/controller";
import { callLua, type RedisConnection, type Wake } from "@drover/queue";
import { z } from "zod";
import { dropOwed, owe, settleOwed } from "./owed-scripts.ts";
import { parsedJson } from "./parsed-json.ts";

/**
 * The wakes that a stream owes one queue, beside the stream in Redis: the stream's position has passed them, and the queue
 * has not taken them. One per key, so no more than there are keys.
 */
export interface OwedWakes {
  /**
   * When the stream was taken: since when the queue is owed something, ms since 1970 by this process's clock. Undefined:
   * it was owed nothing.
   */
  readonly since: number | undefined;
  /** Resolves when they are recorded. Of a key's wakes the newest version is kept, and no copy. */
  add(wakes: readonly Wake[]): Promise<void>;
  /** All that is recorded, in pieces. What is added meanwhile may be in it or not. */
  pieces(): AsyncIterable<OwedPiece>;
  /** A piece that the queue has taken is owed no longer, unless there was more since. Answers what is left. */
  settle(piece: OwedPiece): Promise<Owed>;
  /** What is left. */
  look(): Promise<Owed>;
  /**
   * Surrounds waking every key, when `Owed.all`: after `begin` wakes are recorded again, `end` clears `Owed.all`. If the
   * bridge dies in between, `Owed.all` stays.
   */
  tellAll(step: "begin" | "end"): Promise<Owed>;
  /** Resolves when the Redis of the streams answers. */
  answers(): Promise<void>;
}

export interface OwedPiece {
  readonly wakes: readonly Wake[];
  /** As Redis has them: key and text in turn. */
  readonly texts: readonly string[];
}

export interface Owed {
  readonly keys: number;
  /** More is owed than is recorded: every key must be woken. */
  readonly all: boolean;
}

/** Keys that are recorded for one queue of one stream: at some 250 bytes each, 13 MB. */
const mostOwed = 50_000;
const perPiece = 200;

export interface OwedWakesOptions {
  readonly redis: RedisConnection;
  /** Of the stream's keys. */
  readonly prefix: string;
  readonly token: string;
  readonly queue: string;
  readonly since: number | undefined;
  /** Called when the stream is another bridge's. */
  readonly lose: () => Error;
  readonly most?: number | undefined;
}

export function owedWakes(options: OwedWakesOptions): OwedWakes {
  const { redis, prefix, token, queue, since, lose, most = mostOwed } = options;
  const settled = async (told: readonly string[], all: "" | "begin" | "end"): Promise<Owed> => {
    const args = { token, queue, told: JSON.stringify(told), all };
    const answer = owedSchema.parse(await callLua(redis, settleOwed, prefix, args));
    if (answer.length === 0) throw lose();
    return { keys: answer[0], all: answer[1] === 1 };
  };
  return {
    since,
    async add(wakes) {
      for (let i = 0; i < wakes.length; i += perPiece) {
        const piece = JSON.stringify(wakes.slice(i, i + perPiece).map(lasting));
        const answer = await callLua(redis, owe, prefix, { token, queue, wakes: piece, most });
        if (answer !== 1) throw lose();
      }
    },
    async *pieces() {
      let cursor = "0";
      do {
        const [next, texts] = await redis.hscan(`${prefix}:owed:${queue}`, cursor, "COUNT", perPiece);
        cursor = next;
        for (let i = 0; i < texts.length; i += 2 * perPiece) yield pieceOf(texts.slice(i, i + 2 * perPiece));
      } while (cursor !== "0");
    },
    settle: ({ texts }) => settled(texts, ""),
    look: () => settled([], ""),
    tellAll: (step) => settled([], step),
    async answers() {
      await redis.ping();
    },
  };
}

/** Drops what is owed to queues that are gone. */
export const dropOwedTo = (
  { redis, prefix, token }: Pick<OwedWakesOptions, "redis" | "prefix" | "token">,
  queues: readonly string[],
): Promise<unknown> => callLua(redis, dropOwed, prefix, { token, queues: JSON.stringify(queues) });

/**
 * The times since when queues are behind, from the texts of `S:behind`.
 *
 * @param ahead ms by which this process's clock is ahead of Redis', which the texts are written by.
 */
export function behindSince(
  marks: Readonly<Record<string, string>>,
  ahead: Milliseconds,
): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(marks).map(([queue, text]) => [queue, (parsedJson(markSchema, text)?.since ?? 0) + ahead]),
  );
}

const markSchema = z.object({ since: z.number() });
const owedSchema = z.union([z.tuple([z.number(), z.number()]), z.tuple([])]);

// A copy, and what is known of its age, are of a moment that will have passed when the queue takes the wake.
const lasting = ({ copy: _copy, newestAfter: _newestAfter, news, ...wake }: Wake): Wake => ({
  ...wake,
  ...(news !== undefined && { news: "" }),
});

function pieceOf(texts: readonly string[]): OwedPiece {
  const wakes: Wake[] = [];
  for (let i = 1; i < texts.length; i += 2) {
    const key = objectKeyIn(texts[i - 1] ?? "");
    // A text that another program wrote still names a key that is owed a wake.
    if (key !== undefined) wakes.push({ ...(parsedJson(wakeSchema, texts[i] ?? "") ?? plain), key });
  }
  return { wakes, texts };
}

const plain = { kind: "owed", resourceVersion: "0", reason: "Modified", class: "change" } as const;

const wakeSchema = z.object({
  kind: z.string(),
  resourceVersion: z.string(),
  uid: z.string().exactOptional(),
  paused: z.boolean().exactOptional(),
  reason: z.string(),
  class: z.enum(["change", "listing", "resync"]),
  trace: z.string().exactOptional(),
  news: z.string().exactOptional(),
});
