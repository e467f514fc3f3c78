import type { Milliseconds } from "@drover/controller";
import type { Target } from "./target.ts";

/** A Service keeps its address for as long as it lives; another one of its name is found after this time. */
const keptFor: Milliseconds = 5_000;

/**
 * A target that is asked for at most that often. One that could not be found is asked for each time.
 * @param clock one that never goes back.
 */
export function rememberTarget(
  find: (signal: AbortSignal) => Promise<Target>,
  clock: () => Milliseconds,
): (signal: AbortSignal) => Promise<Target> {
  let last: { readonly at: Milliseconds; readonly target: Target } | undefined;
  return async (signal) => {
    if (last !== undefined && clock() - last.at < keptFor) return last.target;
    const at = clock();
    const target = await find(signal);
    last = { at, target };
    return target;
  };
}
