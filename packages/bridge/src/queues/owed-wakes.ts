import { type Milliseconds, tryParseObjectKey } from "@drover/controller";
import { callLua, type RedisConnection, type Wake } from "@drover/queue";
import { z } from "zod";
import { bridgeScripts } from "../scripts/bridge-scripts.ts";
import { parsedJson } from "../store/parsed-json.ts";

/**
 * The wakes that a stream owes one queue, stored with the stream in Redis: the stream's position has passed them, and
 * the queue has not accepted them. There is one per key.
 */
export interface OwedWakes {
  /**
   * The state when the stream was taken: since when the queue is owed wakes, in ms since 1970 by this process's clock.
   * Undefined: it was owed none.
   */
  readonly since: number | undefined;
  /** Resolves when the wakes are recorded. For a key, the newest version is kept, and no cached object. */
  add(wakes: readonly Wake[]): Promise<void>;
  /** All recorded wakes, in batches. A wake that is added meanwhile may be missing. */
  batches(): AsyncIterable<OwedBatch>;
  /** Removes the wakes of a batch that the queue has accepted, unless they were replaced since. Returns the rest. */
  remove(batch: OwedBatch): Promise<Owed>;
  /** The wakes that are still owed. */
  remaining(): Promise<Owed>;
  /**
   * To be called before and after every key is woken, if `Owed.all`: from `begin` on, wakes are recorded again; `end`
   * clears `Owed.all`. If the bridge dies in between, `Owed.all` is kept.
   */
  markAll(step: "begin" | "end"): Promise<Owed>;
  /** Resolves when the Redis of the streams answers. */
  ping(): Promise<void>;
}

export interface OwedBatch {
  readonly wakes: readonly Wake[];
  /** As stored in Redis: key and text in turn. */
  readonly texts: readonly string[];
}

export interface Owed {
  readonly keys: number;
  /** True if more is owed than is recorded: every key must be woken. */
  readonly all: boolean;
}

/** Most keys that are recorded for one queue of one stream: 13 MB, at about 250 bytes each. */
const maxOwed = 50_000;
const wakesPerBatch = 200;

export interface OwedWakesOptions {
  readonly redis: RedisConnection;
  /** The prefix of the stream's keys. */
  readonly prefix: string;
  readonly token: string;
  readonly queue: string;
  readonly since: number | undefined;
  /** Called if another bridge holds the stream. */
  readonly lose: () => Error;
  readonly most?: number | undefined;
}

export function owedWakes(options: OwedWakesOptions): OwedWakes {
  const { redis, prefix, token, queue, since, lose, most = maxOwed } = options;
  const removeAccepted = async (texts: readonly string[], all: "" | "begin" | "end"): Promise<Owed> => {
    const args = { token, queue, accepted: JSON.stringify(texts), all };
    const answer = owedSchema.parse(await callLua(redis, bridgeScripts.removeOwed, prefix, args));
    if (answer.length === 0) throw lose();
    return { keys: answer[0], all: answer[1] === 1 };
  };
  return {
    since,
    async add(wakes) {
      for (let i = 0; i < wakes.length; i += wakesPerBatch) {
        const piece = JSON.stringify(wakes.slice(i, i + wakesPerBatch).map(withoutCachedObject));
        const answer = await callLua(redis, bridgeScripts.owe, prefix, { token, queue, wakes: piece, most });
        if (answer !== 1) throw lose();
      }
    },
    async *batches() {
      let cursor = "0";
      do {
        const [next, texts] = await redis.hscan(`${prefix}:owed:${queue}`, cursor, "COUNT", wakesPerBatch);
        cursor = next;
        for (let i = 0; i < texts.length; i += 2 * wakesPerBatch)
          yield batchOf(texts.slice(i, i + 2 * wakesPerBatch));
      } while (cursor !== "0");
    },
    remove: ({ texts }) => removeAccepted(texts, ""),
    remaining: () => removeAccepted([], ""),
    markAll: (step) => removeAccepted([], step),
    async ping() {
      await redis.ping();
    },
  };
}

/** Drops the wakes that are owed to queues that are gone. */
export const dropOwedTo = (
  { redis, prefix, token }: Pick<OwedWakesOptions, "redis" | "prefix" | "token">,
  queues: readonly string[],
): Promise<unknown> =>
  callLua(redis, bridgeScripts.dropOwed, prefix, { token, queues: JSON.stringify(queues) });

/**
 * The times since which queues are behind, from the texts of `S:behind`.
 *
 * @param ahead ms by which this process's clock is ahead of Redis', by which the texts were written.
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

// A cached object, and its age, are out of date when the queue accepts the wake.
const withoutCachedObject = ({
  cachedObject: _,
  newestAfter: _newestAfter,
  created: _created,
  delta,
  ...wake
}: Wake): Wake => ({
  ...wake,
  ...(delta !== undefined && { delta: "" }),
});

function batchOf(texts: readonly string[]): OwedBatch {
  const wakes: Wake[] = [];
  for (let i = 1; i < texts.length; i += 2) {
    const key = tryParseObjectKey(texts[i - 1] ?? "");
    // If another client has changed the text, the key still gets a wake.
    if (key !== undefined) wakes.push({ ...(parsedJson(wakeSchema, texts[i] ?? "") ?? unreadableWake), key });
  }
  return { wakes, texts };
}

const unreadableWake = { kind: "owed", resourceVersion: "0", reason: "Modified", class: "change" } as const;

const wakeSchema = z.object({
  kind: z.string(),
  resourceVersion: z.string(),
  uid: z.string().exactOptional(),
  paused: z.boolean().exactOptional(),
  reason: z.string(),
  class: z.enum(["change", "listing", "resync"]),
  trace: z.string().exactOptional(),
  delta: z.string().exactOptional(),
});
