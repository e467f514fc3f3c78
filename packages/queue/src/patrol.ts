import type { Log, Milliseconds } from "@drover/controller";
import type { RedisConnection } from "./redis-connection.ts";
import { throwRefusal } from "./redis-errors.ts";
import { placeOf, primariesOf } from "./redis-primaries.ts";
import type { RedisLedger } from "./redis-ledger.ts";
import { namesPerScript } from "./script-bounds.ts";

/** Redis keys scanned per step and node. At one step a second, 5,000 keys are scanned within 10 s. */
const perStep = 1_000;
/** Shortest time between two steps, so about one a second. A dispatcher may call `step` more often. */
const pace: Milliseconds = 900;

/** Repairs one queue's keys in Redis. */
export interface Patrol {
  /** Takes a step if the last one was about a second ago. */
  step(): Promise<void>;
  /** Ends the repairs: the queue is closed. */
  end(): void;
}

/**
 * A scrubber: scans the ledger's keys in Redis over and over, and repairs those that another client has changed or
 * removed. A set does not show that a member is missing; only a look at every key's entry finds that.
 *
 * It uses SCAN, which returns the names of all keys of the database: no ACL limits it. So all queues of a connection
 * share one scan, and a process without the permission repairs the ledger's own sets only.
 */
export function patrol(options: {
  redis: RedisConnection;
  prefix: string;
  ledger: Pick<RedisLedger, "repair" | "repairSets">;
  log: Log;
  mayScan: boolean;
}): Patrol {
  const { redis, prefix, ledger, log, mayScan } = options;
  const tell = (found: readonly string[]): void => {
    if (found.length > 0)
      log.warn({ found }, "Another client changed the ledger in Redis; the changes were repaired");
  };
  const look = async (names: readonly string[]): Promise<void> => {
    // Entries last: a set of the wrong type is quarantined before entries are looked up in it.
    const isEntry = (name: string): boolean => name.startsWith(`${prefix}:key:`);
    const sorted = [...names.filter((name) => !isEntry(name)), ...names.filter(isEntry)];
    for (let i = 0; i < sorted.length; i += namesPerScript)
      tell(await ledger.repair(sorted.slice(i, i + namesPerScript)));
  };
  const walk = mayScan ? walkOf(redis, log) : undefined;
  const leave = walk?.join(prefix, look);
  const isTime = every(pace);
  return {
    async step() {
      if (!isTime()) return;
      tell(await ledger.repairSets());
      await walk?.step();
    },
    end: () => leave?.(),
  };
}

type Look = (names: readonly string[]) => Promise<void>;

/** One endless scan of the keys of queues, shared by the queues that have joined it. */
interface Walk {
  /** @returns a function that leaves the scan. */
  join(prefix: string, look: Look): () => void;
  step(): Promise<void>;
}
const walks = new WeakMap<RedisConnection, Walk>();

function walkOf(redis: RedisConnection, log: Log): Walk {
  const known = walks.get(redis);
  if (known !== undefined) return known;
  const cursors = new Map<string, string>();
  const looks = new Map<string, Look>();
  const isTime = every(pace);
  const walk: Walk = {
    join(prefix, look) {
      looks.set(prefix, look);
      return () => looks.get(prefix) === look && looks.delete(prefix);
    },
    async step() {
      if (!isTime()) return;
      for (const node of primariesOf(redis)) {
        const place = placeOf(node);
        const [cursor, names] = await node
          .scan(cursors.get(place) ?? "0", "MATCH", "{drover*", "COUNT", perStep)
          .catch(throwRefusal);
        cursors.set(place, cursor);
        const byPrefix = Map.groupBy(names, (name) => name.slice(0, name.indexOf("}") + 1));
        // A queue that cannot be repaired logs that itself, in every turn of its dispatcher. It delays no other queue.
        const looking = [...byPrefix].flatMap(([prefix, of]) => looks.get(prefix)?.(of) ?? []);
        for (const one of await Promise.allSettled(looking))
          if (one.status === "rejected")
            log.debug({ err: one.reason as unknown }, "Could not repair a queue's keys");
      }
    },
  };
  walks.set(redis, walk);
  return walk;
}

/** Makes a function that returns true if it last did so at least `span` ago. */
function every(span: Milliseconds): () => boolean {
  let last = -Infinity;
  return () => {
    const isTime = performance.now() - last >= span;
    if (isTime) last = performance.now();
    return isTime;
  };
}
