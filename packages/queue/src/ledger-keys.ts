import { type ObjectKey, objectKeyIn } from "@drover/controller";
import type { RedisConnection } from "./redis-connection.ts";
import { throwRefusal } from "./redis-errors.ts";
import { primariesOf } from "./redis-primaries.ts";

/** Redis keys looked at per call. */
const perCall = 1_000;

/**
 * All object keys that a ledger has an entry of, in pieces; an entry that comes or goes meanwhile may be in it or not. A
 * SCAN over all keys of the database: its user must be permitted to.
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

/** A text as a glob pattern that matches itself alone. */
export const escaped = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&");
