import type { ObjectKey, ObjectMetadata } from "@drover/controller";
import type { Fingerprint } from "../fingerprint.ts";

/** An object as it was last told: enough to notice its change, and to tell of its end when nobody else does. */
export interface SeenObject {
  readonly key: ObjectKey;
  readonly object: ObjectMetadata;
  readonly fingerprint: Fingerprint;
}

/**
 * What a stream has told so far: one object per key. A relist is compared with it.
 *
 * Guarantees: what was put is found until it is forgotten. Assumption: one stream writes to it at a time. Written
 * after the receiver took the event: a crash in between tells an event twice, and never skips one.
 */
export interface SeenIndex {
  /** What was seen under each of these keys, in their order. */
  get(keys: readonly ObjectKey[]): Promise<readonly (SeenObject | undefined)[]>;
  put(seen: SeenObject): Promise<void>;
  forget(key: ObjectKey): Promise<void>;
  all(): AsyncIterable<SeenObject>;
}

/** An index in memory: it starts empty, so that a stream with it always begins by listing. */
export function memorySeenIndex(): SeenIndex {
  const byKey = new Map<ObjectKey, SeenObject>();
  return {
    get: (keys) => Promise.resolve(keys.map((key) => byKey.get(key))),
    put: (seen) => {
      byKey.set(seen.key, seen);
      return Promise.resolve();
    },
    forget: (key) => {
      byKey.delete(key);
      return Promise.resolve();
    },
    async *all() {
      yield* await Promise.resolve([...byKey.values()]);
    },
  };
}
