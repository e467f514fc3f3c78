import type { Target } from "@drover/calls";
import type { Milliseconds } from "@drover/controller";

/** A Service keeps its address as long as it exists. A new Service of the same name is found after this time. */
const targetTtl: Milliseconds = 5_000;

/**
 * Caches a target for `targetTtl`. A failure is not cached.
 * @param clock monotonic.
 */
export function cacheTarget(
  find: (signal: AbortSignal) => Promise<Target>,
  clock: () => Milliseconds,
): (signal: AbortSignal) => Promise<Target> {
  let last: { readonly at: Milliseconds; readonly target: Target } | undefined;
  return async (signal) => {
    if (last !== undefined && clock() - last.at < targetTtl) return last.target;
    const at = clock();
    const target = await find(signal);
    last = { at, target };
    return target;
  };
}
