import type { ObjectKey } from "@drover/controller";
import { type Meanings, untoldView } from "../subscription.ts";
import type { ResourceVersion } from "./resource-version.ts";

/** An object as it was last told: enough to notice its change, and whom its end concerns when nobody else says so. */
export interface SeenObject {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: ResourceVersion;
  /** What it meant to those who were told. */
  readonly meant: Meanings;
}

/** Older than every version of an object. */
const noVersion: ResourceVersion = "0";

/** The record of a new object before its event is emitted: it has the object's mapped keys, but matches no version or view. */
export const announced = (seen: SeenObject): SeenObject => ({
  ...seen,
  resourceVersion: noVersion,
  meant: Object.fromEntries(
    Object.entries(seen.meant).map(([id, meaning]) => [id, { ...meaning, view: untoldView }]),
  ),
});
export const isAnnounced = ({ resourceVersion }: SeenObject): boolean => resourceVersion === noVersion;

/** What is written together, or not at all. */
export interface SeenChange {
  readonly put: readonly SeenObject[];
  readonly forget: readonly ObjectKey[];
  /** Everything up to this version was told. */
  readonly position: ResourceVersion | undefined;
  /** A listing was told to its end, to all who are subscribed now. */
  readonly whole: boolean;
}

/**
 * What a stream has told so far: one object per key, and its position. A relist is compared with it.
 *
 * Guarantees: what was put is found until it is forgotten. Assumption: one stream writes to it at a time. Written
 * after the receiver took the events: a crash in between tells events twice, and never skips one.
 */
export interface SeenIndex {
  /** What was seen under each of these keys, in their order. */
  get(keys: readonly ObjectKey[]): Promise<readonly (SeenObject | undefined)[]>;
  /** Known to `get` from then on; what it is kept in may have it a moment later, in the order in which it was written. */
  write(change: SeenChange): Promise<void>;
  /** All but those with these keys, in pieces. What is written meanwhile may be in it or not. */
  allBut(keys: ReadonlySet<ObjectKey>): AsyncIterable<readonly SeenObject[]>;
}

/** An index in memory: it starts empty, so that a stream with it always begins by listing. */
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
