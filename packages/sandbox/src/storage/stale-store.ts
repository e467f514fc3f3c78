import { nameOf, namespaceOf } from "../kube-object.ts";
import type { Change, Store } from "./store.ts";

/** A store that shows the state at one moment while it is frozen. The store behind it goes on. */
export interface StaleStore extends Store {
  freeze(): void;
  /** Listeners receive the changes that they have missed, and then new ones. */
  thaw(): void;
}

/** @throws from each read while it is frozen, if the store behind it no longer has that moment. */
export function staleStore(live: Store): StaleStore {
  let at: number | undefined;
  const waiting = new Set<() => void>();

  const list: Store["list"] = (bucket) => {
    if (at === undefined) return live.list(bucket);
    const then = live.listAt(bucket, at);
    if (then) return then;
    throw new Error(`The sandbox has forgotten version ${at}: thaw the view.`);
  };
  const hasHappened = (version: number): boolean => at === undefined || version <= at;
  return {
    ...live,
    get version() {
      return at ?? live.version;
    },
    get compactedVersion() {
      return Math.min(live.compactedVersion, at ?? Infinity);
    },
    list,
    get: (bucket, namespace, name) =>
      at === undefined
        ? live.get(bucket, namespace, name)
        : list(bucket).objects.find((one) => nameOf(one) === name && namespaceOf(one) === namespace),
    listAt: (bucket, version) => (hasHappened(version) ? live.listAt(bucket, version) : undefined),
    changesSince: (bucket, version) =>
      live.changesSince(bucket, version)?.filter((change) => hasHappened(change.version)),
    subscribe(bucket, listener) {
      // A listener that is added while the store is frozen has missed the changes since the freeze.
      let pending: Change[] = at === undefined ? [] : [...(live.changesSince(bucket, at) ?? [])];
      const flush = (): void => {
        for (const change of pending.splice(0)) listener(change);
      };
      waiting.add(flush);
      const unsubscribe = live.subscribe(bucket, (change) => {
        pending.push(change);
        if (at === undefined) flush();
      });
      return () => {
        pending = [];
        waiting.delete(flush);
        unsubscribe();
      };
    },
    freeze: () => void (at ??= live.version),
    thaw() {
      at = undefined;
      for (const flush of [...waiting]) flush();
    },
  };
}
