import { type ObjectKey, objectKeyIn } from "@drover/controller";
import type { RedisConnection } from "./redis-connection.ts";
import { throwRefusal } from "./redis-errors.ts";
import { primariesOf } from "./redis-primaries.ts";

/** Redis keys that one SCAN checks. */
const perCall = 1_000;

/**
 * Yields the object keys of all entries of a ledger, in batches. An entry that is added or removed meanwhile may be
 * included or not. Scans all keys of the database: its Redis user needs the permission for SCAN.
 */
export async function* ledgerKeys(
  redis: RedisConnection,
  prefix: string,
): AsyncGenerator<readonly ObjectKey[], void, undefined> {
  const entries = `${prefix}:key:`;
  for (const node of primariesOf(redis)) {
    let cursor = "0";
    do {
      const [next, names] = await node
        .scan(cursor, "MATCH", `${escaped(entries)}*`, "COUNT", perCall)
        .catch(throwRefusal);
      cursor = next;
      yield names.flatMap((name) => objectKeyIn(name.slice(entries.length)) ?? []);
    } while (cursor !== "0");
  }
}

/** A glob pattern that matches only this text. */
export const escaped = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&");
