import type { Milliseconds } from "@drover/controller";

/**
 * A value that is made again only when the last one is older than `within`; calls meanwhile share it. What fails is not
 * kept.
 */
export function recent<T>(
  make: () => Promise<T>,
  within: Milliseconds,
  now: () => Milliseconds = () => performance.now(),
): () => Promise<T> {
  let last: { readonly value: Promise<T>; readonly until: Milliseconds } | undefined;
  return () => {
    if (last !== undefined && now() < last.until) return last.value;
    const made = { value: make(), until: now() + within };
    last = made;
    made.value.catch(() => {
      if (last === made) last = undefined;
    });
    return made.value;
  };
}
