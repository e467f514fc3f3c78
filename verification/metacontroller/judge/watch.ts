import type { KubeClient, KubeObject, ResourceRef, WatchFrame } from "@drover/kube";

/** The objects of some kinds, by a watch of the test's own. */
export interface Watched {
  /** The objects of a namespace. */
  in(namespace: string): readonly KubeObject[];
  /** Resolves with true when the condition holds, which is checked after each event; with false after `patience` ms. */
  until(condition: () => boolean, patience: number): Promise<boolean>;
  /** Rejects when a watch has failed. */
  readonly failed: Promise<never>;
  close(): void;
}

export async function watchKinds(client: KubeClient, kinds: readonly ResourceRef[]): Promise<Watched> {
  const namespaces = new Map<string, Map<string, KubeObject>>();
  const waiting = new Set<() => void>();
  const closing = new AbortController();
  const failing = Promise.withResolvers<never>();
  failing.promise.catch(() => undefined);
  const take = (frame: WatchFrame): void => {
    if (frame.type === "ERROR") throw frame.error;
    if (frame.type === "BOOKMARK") return;
    const { namespace = "", uid } = frame.object.metadata;
    const objects = namespaces.get(namespace) ?? new Map<string, KubeObject>();
    namespaces.set(namespace, objects);
    if (frame.type === "DELETED") objects.delete(uid);
    else objects.set(uid, frame.object);
    for (const look of waiting) look();
  };
  const follow = async (kind: ResourceRef, from: string): Promise<void> => {
    const { signal } = closing;
    let resourceVersion = from;
    while (!signal.aborted)
      for await (const frames of client.watch(kind, { resourceVersion, signal }))
        for (const frame of frames) {
          take(frame);
          if (frame.type === "BOOKMARK") ({ resourceVersion } = frame);
          else if (frame.type !== "ERROR") ({ resourceVersion } = frame.object.metadata);
        }
  };
  for (const kind of kinds) {
    const { resourceVersion } = await client.list(kind, { limit: 1 });
    follow(kind, resourceVersion).catch((error: unknown) => {
      if (!closing.signal.aborted) failing.reject(error);
    });
  }
  return {
    in: (namespace) => [...(namespaces.get(namespace)?.values() ?? [])],
    async until(condition, patience) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), patience);
      const look = (): void => {
        if (condition()) resolve(true);
      };
      waiting.add(look);
      look();
      const holds = await promise;
      clearTimeout(timer);
      waiting.delete(look);
      return holds;
    },
    failed: failing.promise,
    close: () => closing.abort(),
  };
}
