import type { Milliseconds, ObjectKey } from "@drover/controller";
import { createHash } from "node:crypto";

/** Resyncs alone start a function that scales to zero this many times per period at most. */
const resyncGroups = 4;

/**
 * Time until the next resync of an object that does not change. It varies by a tenth, so that resyncs do not come all
 * at once. Resyncs of a function that scales to zero come in four groups per period instead, each key always in the
 * same group: otherwise the function would never be at rest.
 *
 * @param random in [0, 1).
 */
export function nextResync(
  {
    key,
    every,
    scalesToZero,
  }: { readonly key: ObjectKey; readonly every: Milliseconds; readonly scalesToZero: boolean },
  now: Date,
  random: number,
): Milliseconds {
  if (!scalesToZero) return Math.round(every * (0.9 + random / 10));
  const slice = (createHash("sha1").update(key).digest()[0] ?? 0) % resyncGroups;
  const since = (now.getTime() - (slice * every) / resyncGroups) % every;
  return Math.max(1, Math.round(every - since));
}
