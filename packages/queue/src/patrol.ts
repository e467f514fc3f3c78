import type { Log, Milliseconds } from "@drover/controller";
import type { Redis } from "ioredis";
import { escaped } from "./ledger-keys.ts";
import type { RedisConnection } from "./redis-connection.ts";
import { throwRefusal } from "./redis-errors.ts";
import { placeOf, primariesOf } from "./redis-primaries.ts";
import type { RedisLedger } from "./redis-ledger.ts";
import { namesPerScript } from "./script-bounds.ts";

/** Redis keys looked through per step and node. With one step a second, 5,000 keys are seen within 10 s. */
const perStep = 1_000;
/** A ringer asks as often as it rings, which may be often; a step is taken about once a second. */
const pace: Milliseconds = 900;

/**
 * Walks round the ledger's keys in Redis, a step per call, and has them put right where somebody else changed or removed
 * them. Sets cannot tell that a member is missing; only who walks by notices.
 *
 * It walks by SCAN, which tells the names of all keys of the database: no ACL limits it. Who may not scan looks after the
 * ledger's own sets only.
 */
export function patrol(options: {
  redis: RedisConnection;
  prefix: string;
  ledger: Pick<RedisLedger, "repair" | "repairSets">;
  log: Log;
  mayScan: boolean;
}): () => Promise<void> {
  const { redis, prefix, ledger, log, mayScan } = options;
  const cursors = new Map<string, string>();
  const tell = (found: readonly string[]): void => {
    if (found.length > 0) log.warn({ found }, "Somebody else changed the ledger; it has been put right");
  };
  const step = async (node: Redis): Promise<void> => {
    const place = placeOf(node);
    const pattern = `${escaped(prefix)}:*`;
    const [cursor, names] = await node
      .scan(cursors.get(place) ?? "0", "MATCH", pattern, "COUNT", perStep)
      .catch(throwRefusal);
    cursors.set(place, cursor);
    // Entries last: sets that are none are put aside before they are looked up in.
    const isEntry = (name: string): boolean => name.startsWith(`${prefix}:key:`);
    const sorted = [...names.filter((name) => !isEntry(name)), ...names.filter(isEntry)];
    for (let i = 0; i < sorted.length; i += namesPerScript)
      tell(await ledger.repair(sorted.slice(i, i + namesPerScript)));
  };
  let steppedAt = -Infinity;
  return async () => {
    if (performance.now() - steppedAt < pace) return;
    steppedAt = performance.now();
    tell(await ledger.repairSets());
    if (mayScan) for (const node of primariesOf(redis)) await step(node);
  };
}
