import type { ObjectKey } from "@drover/controller";
import { isMatchingEntry } from "../mapping/index-entries.ts";
import type { ReverseIndexes } from "./reverse-indexes.ts";
import type { IndexUpdate } from "./stream-store.ts";

/** Reverse indexes in memory. */
export interface MemoryReverseIndexes extends ReverseIndexes {
  /** Replaces the entries of these objects. An object without entries is removed. */
  update(updates: readonly IndexUpdate[]): void;
}

/** Reverse indexes without Redis, for tests of functions. A subscription has one index; its stream is ignored. */
export function memoryReverseIndexes(): MemoryReverseIndexes {
  const byKey = new Map<ObjectKey, IndexUpdate["entries"]>();
  return {
    async *find({ index }, questions) {
      for (const question of questions) {
        const { sought } = question;
        const keys = [...byKey].flatMap(([key, { [index]: terms = [] }]) =>
          terms.some(({ term, note }) => sought.includes(term) && isMatchingEntry(sought, note)) ? [key] : [],
        );
        yield await Promise.resolve({ question, keys });
      }
    },
    update(updates) {
      for (const { key, entries } of updates) {
        if (Object.values(entries).every((terms) => terms.length === 0)) byKey.delete(key);
        else byKey.set(key, entries);
      }
    },
  };
}
