import { type ObjectKey, tryParseObjectKey } from "@drover/controller";
import type { SeenObject } from "@drover/kube";
import type { RedisConnection } from "@drover/queue";
import { parseRecord } from "./seen-record.ts";

/** Records read in one call. */
const recordsPerScan = 500;

/**
 * All records of a stream's index except those of these keys, which are not parsed, in batches. A record that is
 * written meanwhile may be missing.
 */
export async function* scanRecords(
  redis: RedisConnection,
  prefix: string,
  but: ReadonlySet<ObjectKey> = new Set(),
): AsyncGenerator<readonly SeenObject[], void, undefined> {
  let cursor = "0";
  do {
    const [next, flat] = await redis.hscan(`${prefix}:seen`, cursor, "COUNT", recordsPerScan);
    cursor = next;
    yield recordsIn(flat, but);
  } while (cursor !== "0");
}

function recordsIn(flat: readonly string[], but: ReadonlySet<ObjectKey>): readonly SeenObject[] {
  const found: SeenObject[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [member = "", record = ""] = [flat[at], flat[at + 1]];
    const key = tryParseObjectKey(member);
    const seen = key === undefined || but.has(key) ? undefined : parseRecord(key, record);
    if (seen !== undefined) found.push(seen);
  }
  return found;
}
