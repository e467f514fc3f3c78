import type { Log, Milliseconds } from "@drover/controller";
import { type RedisConnection, hostPortOf, primariesOf } from "../redis/redis-servers.ts";
import { throwRefusal } from "../redis/redis-errors.ts";
import type { RedisLedger } from "./redis-ledger.ts";
import { maxKeysPerRepair } from "../redis/lua/script-bounds.ts";

/** Redis keys scanned per step and node. At one step a second, 5,000 keys are scanned within 10 s. */
const keysPerStep = 1_000;
/** Shortest time between two steps, so about one a second. A dispatcher may call `step` more often. */
const stepInterval: Milliseconds = 900;

/** Repairs one queue's keys in Redis. */
export interface Scrubber {
  /** Takes a step if the last one was about a second ago. */
  step(): Promise<void>;
  /** Ends the repairs: the queue is closed. */
  stop(): void;
}

/**
 * A scrubber: scans the ledger's keys in Redis over and over, and repairs those that another client has changed or
 * removed. A set does not show that a member is missing; only a look at every key's entry finds that.
 *
 * It uses SCAN, which returns the names of all keys of the database: no ACL limits it. So all queues of a connection
 * share one scan, and a process without the permission repairs the ledger's own sets only.
 */
export function startScrubber(options: {
  redis: RedisConnection;
  prefix: string;
  ledger: Pick<RedisLedger, "repair" | "repairSets">;
  log: Log;
  mayScan: boolean;
}): Scrubber {
  const { redis, prefix, ledger, log, mayScan } = options;
  const logRepairs = (found: readonly string[]): void => {
    if (found.length > 0)
      log.warn({ found }, "Another client changed the ledger in Redis; the changes were repaired");
  };
  const repairKeys = async (names: readonly string[]): Promise<void> => {
    // Entries last: a set of the wrong type is quarantined before entries are looked up in it.
    const isEntry = (name: string): boolean => name.startsWith(`${prefix}:key:`);
    const sorted = [...names.filter((name) => !isEntry(name)), ...names.filter(isEntry)];
    for (let i = 0; i < sorted.length; i += maxKeysPerRepair)
      logRepairs(await ledger.repair(sorted.slice(i, i + maxKeysPerRepair)));
  };
  const scan = mayScan ? sharedScan(redis, log) : undefined;
  const leaveScan = scan?.join(prefix, repairKeys);
  const isTime = atMostEvery(stepInterval);
  return {
    async step() {
      if (!isTime()) return;
      logRepairs(await ledger.repairSets());
      await scan?.step();
    },
    stop: () => leaveScan?.(),
  };
}

type RepairKeys = (names: readonly string[]) => Promise<void>;

/** One endless scan of the keys of queues, shared by the queues that have joined it. */
interface SharedScan {
  /** @returns a function that leaves the scan. */
  join(prefix: string, repairKeys: RepairKeys): () => void;
  step(): Promise<void>;
}
const sharedScans = new WeakMap<RedisConnection, SharedScan>();

function sharedScan(redis: RedisConnection, log: Log): SharedScan {
  const known = sharedScans.get(redis);
  if (known !== undefined) return known;
  const cursors = new Map<string, string>();
  const repairs = new Map<string, RepairKeys>();
  const isTime = atMostEvery(stepInterval);
  const scan: SharedScan = {
    join(prefix, repairKeys) {
      repairs.set(prefix, repairKeys);
      return () => repairs.get(prefix) === repairKeys && repairs.delete(prefix);
    },
    async step() {
      if (!isTime()) return;
      for (const node of primariesOf(redis)) {
        const address = hostPortOf(node);
        const [cursor, names] = await node
          .scan(cursors.get(address) ?? "0", "MATCH", "{drover*", "COUNT", keysPerStep)
          .catch(throwRefusal);
        cursors.set(address, cursor);
        const byPrefix = Map.groupBy(names, (name) => name.slice(0, name.indexOf("}") + 1));
        // A queue that cannot be repaired logs that itself, in every turn of its dispatcher. It delays no other queue.
        const repairing = [...byPrefix].flatMap(([prefix, of]) => repairs.get(prefix)?.(of) ?? []);
        for (const one of await Promise.allSettled(repairing))
          if (one.status === "rejected")
            log.debug({ err: one.reason as unknown }, "Could not repair a queue's keys");
      }
    },
  };
  sharedScans.set(redis, scan);
  return scan;
}

/** Makes a function that returns true if it last did so at least `span` ago. */
function atMostEvery(span: Milliseconds): () => boolean {
  let last = -Infinity;
  return () => {
    const isTime = performance.now() - last >= span;
    if (isTime) last = performance.now();
    return isTime;
  };
}
