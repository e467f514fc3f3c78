import type { Milliseconds, ObjectKey } from "@drover/controller";
import { createHash } from "node:crypto";

/** So many times a period, at most, a function that scales to zero is started for nothing but resyncs. */
const slices = 4;

/**
 * When an object is looked at again though nothing changes. Resyncs are spread by a tenth, so that they do not come as a
 * herd; those of a function that scales to zero come in four herds a period, each key with always the same one, or else
 * the function would never rest.
 *
 * @param random in [0, 1).
 */
export function nextResync(
  { key, every, rests }: { readonly key: ObjectKey; readonly every: Milliseconds; readonly rests: boolean },
  now: Date,
  random: number,
): Milliseconds {
  if (!rests) return Math.round(every * (0.9 + random / 10));
  const slice = (createHash("sha1").update(key).digest()[0] ?? 0) % slices;
  const since = (now.getTime() - (slice * every) / slices) % every;
  return Math.max(1, Math.round(every - since));
}
