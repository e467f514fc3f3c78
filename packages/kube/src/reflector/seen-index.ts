import type { ObjectKey } from "@drover/controller";
import { type MappingResults, unemittedView } from "./mapping-result.ts";
import type { ResourceVersion } from "../objects/kube-object.ts";

/** The last emitted state of an object: enough to detect a change, and to map a deletion without a deletion event. */
export interface SeenObject {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: ResourceVersion;
  /** Its mapping results, for the subscriptions to which it was emitted. */
  readonly matched: MappingResults;
}

/** Older than every version of an object. */
const noVersion: ResourceVersion = "0";

/** The record of a new object before its event is emitted: it has the object's mapped keys, but matches no version or view. */
export const announced = (seen: SeenObject): SeenObject => ({
  ...seen,
  resourceVersion: noVersion,
  matched: Object.fromEntries(
    Object.entries(seen.matched).map(([id, result]) => [id, { ...result, view: unemittedView }]),
  ),
});
export const isAnnounced = ({ resourceVersion }: SeenObject): boolean => resourceVersion === noVersion;

/** One write to the index. The position is not written before the objects. */
export interface SeenChange {
  readonly put: readonly SeenObject[];
  readonly forget: readonly ObjectKey[];
  /** All changes up to this version were emitted. */
  readonly position: ResourceVersion | undefined;
  /** True if a list was emitted completely, to all current subscriptions. */
  readonly whole: boolean;
}

/**
 * The last emitted state of a stream: one record per key, and its position. The next list is compared with it.
 *
 * Guarantees: a record that was put is found until it is removed. Assumption: one stream writes to it at a time. The
 * index is written after the receiver has processed the events: a crash in between repeats events, and never skips one.
 */
export interface SeenIndex {
  /** The records of these keys, in their order. */
  get(keys: readonly ObjectKey[]): Promise<readonly (SeenObject | undefined)[]>;
  /** `get` sees the write at once. The storage may get it a moment later, in the order of the writes. */
  write(change: SeenChange): Promise<void>;
  /** All records except those of these keys, in batches. Records that are written meanwhile may be missing. */
  allBut(keys: ReadonlySet<ObjectKey>): AsyncIterable<readonly SeenObject[]>;
}

/** An index in memory. It starts empty, so a stream with it always begins with a list. */
export function memorySeenIndex(): SeenIndex {
  const byKey = new Map<ObjectKey, SeenObject>();
  return {
    get: (keys) => Promise.resolve(keys.map((key) => byKey.get(key))),
    write: ({ put, forget }) => {
      for (const seen of put) byKey.set(seen.key, seen);
      for (const key of forget) byKey.delete(key);
      return Promise.resolve();
    },
    async *allBut(keys) {
      yield await Promise.resolve([...byKey.values()].filter(({ key }) => !keys.has(key)));
    },
  };
}
