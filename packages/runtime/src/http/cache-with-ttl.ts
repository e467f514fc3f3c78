import type { Milliseconds } from "@drover/controller";

/**
 * Caches a value. It is made again only if the last one is older than `ttl`; calls until then share it. Failures are
 * not kept.
 */
export function cacheWithTtl<T>(
  make: () => Promise<T>,
  ttl: Milliseconds,
  now: () => Milliseconds = () => performance.now(),
): () => Promise<T> {
  let last: { readonly value: Promise<T>; readonly until: Milliseconds } | undefined;
  return () => {
    if (last !== undefined && now() < last.until) return last.value;
    const made = { value: make(), until: now() + ttl };
    last = made;
    made.value.catch(() => {
      if (last === made) last = undefined;
    });
    return made.value;
  };
}
