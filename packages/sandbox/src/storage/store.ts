import { keyOf, nameOf, namespaceOf, withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";

/**
 * One committed change. `previous` is what the change replaced; a deletion carries the last state at its own version.
 */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly bucket: string;
  readonly version: number;
  readonly object: KubeObject;
  readonly previous?: KubeObject;
}

export interface Snapshot {
  readonly version: number;
  /** Sorted by their keys. */
  readonly objects: readonly KubeObject[];
}

/**
 * All objects, in buckets (one per resource), with one counter of versions and the latest changes.
 *
 * Guarantees: versions grow by one per change over all buckets. Listeners receive every change of their bucket once, in
 * order, and a change made by a listener comes after the one that it received. Only the last `historyLimit` changes are
 * kept: changes at or before `compactedVersion` are gone.
 */
export interface Store {
  readonly version: number;
  readonly compactedVersion: number;
  get(bucket: string, namespace: string, name: string): KubeObject | undefined;
  /** Creates or replaces. Returns the object with its new resourceVersion. */
  put(bucket: string, object: KubeObject): KubeObject;
  remove(bucket: string, namespace: string, name: string): void;
  list(bucket: string): Snapshot;
  /** The bucket at a version; undefined if the version is too old or in the future. */
  listAt(bucket: string, version: number): Snapshot | undefined;
  /** The changes of a bucket after a version; undefined if some of them are no longer kept. */
  changesSince(bucket: string, version: number): readonly Change[] | undefined;
  /** Calls the listener for every change of a bucket from now on, until the returned function is called. */
  subscribe(bucket: string, listener: (change: Change) => void): () => void;
  /** The same for every bucket. */
  subscribeAll(listener: (change: Change) => void): void;
  /** Drops all kept changes. */
  compact(): void;
}

const byKey = (a: [string, KubeObject], b: [string, KubeObject]): number => (a[0] < b[0] ? -1 : 1);
const snapshot = (version: number, objects: ReadonlyMap<string, KubeObject>): Snapshot => ({
  version,
  objects: [...objects].sort(byKey).map(([, object]) => object),
});
const stamped = (object: KubeObject, version: number): KubeObject =>
  withMeta(object, "resourceVersion", String(version));

interface Bucket {
  readonly objects: Map<string, KubeObject>;
  readonly listeners: Set<(change: Change) => void>;
}

/** The kept changes, and the delivery of new ones to listeners. */
interface Journal {
  readonly compactedVersion: number;
  readonly changes: readonly Change[];
  add(change: Change): void;
  forget(count: number): void;
}

function createJournal(limit: number, from: number, emit: (change: Change) => void): Journal {
  const changes: Change[] = [];
  const pending: Change[] = [];
  let compactedVersion = from;
  const forget = (count: number): void => {
    compactedVersion = changes.splice(0, count).at(-1)?.version ?? compactedVersion;
  };
  return {
    changes,
    forget,
    get compactedVersion() {
      return compactedVersion;
    },
    add(change) {
      changes.push(change);
      // In batches: the removal of one element per change would move all others every time.
      if (changes.length > limit * 1.25) forget(changes.length - limit);
      pending.push(change);
      // A change made during a delivery waits, so that all listeners receive both in order.
      if (pending.length > 1) return;
      for (let next = pending[0]; next; pending.shift(), next = pending[0]) emit(next);
    },
  };
}

/** A bucket at a version: the current one without the later changes. */
function rewound(
  bucket: string,
  now: ReadonlyMap<string, KubeObject>,
  changes: readonly Change[],
  at: number,
): Snapshot {
  const objects = new Map(now);
  for (let i = changes.length - 1; i >= 0; i -= 1) {
    const change = changes[i];
    if (!change || change.version <= at) break;
    if (change.bucket !== bucket) continue;
    const key = keyOf(namespaceOf(change.object), nameOf(change.object));
    if (change.previous) objects.set(key, change.previous);
    else objects.delete(key);
  }
  return snapshot(at, objects);
}

/** Makes an empty store at a version. `historyLimit` is a number of changes, over all buckets. */
export function createStore(historyLimit: number, from = 0): Store {
  const buckets = new Map<string, Bucket>();
  const everyone = new Set<(change: Change) => void>();
  let version = from;
  const bucketOf = (name: string): Bucket => {
    const found = buckets.get(name) ?? { objects: new Map(), listeners: new Set() };
    buckets.set(name, found);
    return found;
  };
  const journal = createJournal(historyLimit, from, (change) => {
    for (const listener of [...bucketOf(change.bucket).listeners, ...everyone]) listener(change);
  });
  return {
    get version() {
      return version;
    },
    get compactedVersion() {
      return journal.compactedVersion;
    },
    get: (bucket, namespace, name) => bucketOf(bucket).objects.get(keyOf(namespace, name)),
    put(bucket, object) {
      const { objects } = bucketOf(bucket);
      const key = keyOf(namespaceOf(object), nameOf(object));
      const previous = objects.get(key);
      const next = stamped(object, ++version);
      objects.set(key, next);
      const change = { bucket, version, object: next };
      journal.add(previous ? { ...change, type: "MODIFIED", previous } : { ...change, type: "ADDED" });
      return next;
    },
    remove(bucket, namespace, name) {
      const { objects } = bucketOf(bucket);
      const previous = objects.get(keyOf(namespace, name));
      if (!previous) return;
      objects.delete(keyOf(namespace, name));
      version += 1;
      journal.add({ type: "DELETED", bucket, version, object: stamped(previous, version), previous });
    },
    list: (bucket) => snapshot(version, bucketOf(bucket).objects),
    listAt(bucket, at) {
      if (at < journal.compactedVersion || at > version) return undefined;
      return rewound(bucket, bucketOf(bucket).objects, journal.changes, at);
    },
    changesSince(bucket, since) {
      if (since < journal.compactedVersion) return undefined;
      const from = journal.changes.findLastIndex((change) => change.version <= since) + 1;
      return journal.changes.slice(from).filter((change) => change.bucket === bucket);
    },
    subscribe(bucket, listener) {
      const { listeners } = bucketOf(bucket);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    subscribeAll: (listener) => void everyone.add(listener),
    compact: () => journal.forget(journal.changes.length),
  };
}
