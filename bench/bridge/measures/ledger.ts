import { Redis } from "ioredis";
import { now } from "../../../verification/harness/clock.ts";
import { queue, widgets } from "../cluster/widgets.ts";

/** Drover's ledger as it stands in Redis: see `packages/queue/src/index.ts` for what is where. */
export interface LedgerView {
  /** How often each key was woken so far. */
  readonly wakes: () => Promise<ReadonlyMap<string, number>>;
  /** The version of a Widget that each of these keys was last woken for. */
  versions(keys: readonly string[]): Promise<readonly (string | null)[]>;
  /** Keys that wait for a run, or run. */
  readonly due: () => Promise<number>;
  /** Calls back with the key and the time (ms, monotonic) whenever a key's entry changes, from now on. */
  onChange(listener: (key: string, at: number) => void): Promise<void>;
  /** `INFO memory`'s used_memory, bytes. */
  readonly usedMemory: () => Promise<number>;
  close(): void;
}

const prefix = `{drover:${queue}}`;
const keyPrefix = `${prefix}:key:`;

export function viewLedger(url: string): LedgerView {
  const redis = new Redis(url);
  let listening: Redis | undefined;
  return {
    wakes: () => wakesIn(redis),
    async versions(keys) {
      const answers = await redis
        .pipeline(keys.map((key) => ["hget", keyPrefix + key, `version:${widgets.name}`]))
        .exec();
      return (answers ?? []).map(([, version]) => (typeof version === "string" ? version : null));
    },
    async due() {
      const counts = await Promise.all(
        ["ready", "dispatched", "leases"].map((set) => redis.zcard(`${prefix}:${set}`)),
      );
      return counts.reduce((a, b) => a + b);
    },
    async onChange(listener) {
      await redis.config("SET", "notify-keyspace-events", "Kh");
      listening = redis.duplicate();
      const channel = `__keyspace@0__:${keyPrefix}`;
      listening.on("pmessage", (_pattern, name: string) => listener(name.slice(channel.length), now()));
      await listening.psubscribe(`${channel}*`);
    },
    usedMemory: async () => Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1] ?? NaN),
    close() {
      listening?.disconnect();
      redis.disconnect();
    },
  };
}

async function wakesIn(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const wakes = new Map<string, number>();
  let cursor = "0";
  do {
    const [next, names] = await redis.scan(cursor, "MATCH", `${keyPrefix}*`, "COUNT", 2_000);
    const counts = await redis.pipeline(names.map((name) => ["hget", name, "wakes"])).exec();
    names.forEach((name, i) => wakes.set(name.slice(keyPrefix.length), Number(counts?.[i]?.[1] ?? 0)));
    cursor = next;
  } while (cursor !== "0");
  return wakes;
}

/** Keys that were woken in between, with how often. */
export function wokenBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const more = [...after].map(([key, wakes]) => [key, wakes - (before.get(key) ?? 0)] as const);
  return new Map(more.filter(([, wakes]) => wakes > 0));
}
