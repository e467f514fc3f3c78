import { type ObjectKey, tryParseObjectKey } from "@drover/controller";
import { type RedisConnection, primariesOf } from "../redis/redis-servers.ts";
import { throwRefusal } from "../redis/redis-errors.ts";

/** Redis keys that one SCAN checks. */
const keysPerScan = 1_000;

/**
 * Yields the object keys of all entries of a ledger, in batches. An entry that is added or removed meanwhile may be
 * included or not. Scans all keys of the database: its Redis user needs the permission for SCAN.
 */
export async function* scanLedgerKeys(
  redis: RedisConnection,
  prefix: string,
): AsyncGenerator<readonly ObjectKey[], void, undefined> {
  const entries = `${prefix}:key:`;
  for (const node of primariesOf(redis)) {
    let cursor = "0";
    do {
      const [next, names] = await node
        .scan(cursor, "MATCH", `${escapedGlob(entries)}*`, "COUNT", keysPerScan)
        .catch(throwRefusal);
      cursor = next;
      yield names.flatMap((name) => tryParseObjectKey(name.slice(entries.length)) ?? []);
    } while (cursor !== "0");
  }
}

/** A glob pattern that matches only this text. */
export const escapedGlob = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&");
