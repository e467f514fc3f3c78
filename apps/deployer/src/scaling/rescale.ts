import type { Milliseconds } from "@drover/controller";

/** The number of Pods that a function should have, and since when fewer would be enough. Times are ISO 8601. */
export interface ScalingState {
  readonly wanted: number;
  readonly fewerSince?: string | undefined;
  /** The highest number that was wanted since then. */
  readonly fewer?: number | undefined;
}

/**
 * The next number of Pods. It rises at once. It falls only after fewer were wanted for `idleAfter`, and then to the
 * highest number that was wanted in that time, as with the stabilization window of a HorizontalPodAutoscaler.
 */
export function rescale(
  before: ScalingState | undefined,
  wanted: number,
  { idleAfter, now }: { readonly idleAfter: Milliseconds; readonly now: Date },
): ScalingState {
  if (before === undefined || wanted >= before.wanted) return { wanted };
  const fewerSince = notLater(before.fewerSince, now);
  const fewer = Math.max(before.fewer ?? 0, wanted);
  return idleLeft({ fewerSince }, { idleAfter, now }) > 0
    ? { wanted: before.wanted, fewerSince, fewer }
    : { wanted: fewer };
}

/**
 * The time, or now if there is none or it is in the future. A deployer with a fast clock may have written such a time,
 * and the Pods would stay for that much longer.
 */
const notLater = (time: string | undefined, now: Date): string =>
  time !== undefined && Date.parse(time) <= now.getTime() ? time : now.toISOString();

/** Milliseconds until there may be fewer Pods. Infinity if fewer are not wanted. */
export function idleLeft(
  { fewerSince }: Pick<ScalingState, "fewerSince">,
  { idleAfter, now }: { readonly idleAfter: Milliseconds; readonly now: Date },
): Milliseconds {
  return fewerSince === undefined ? Infinity : Date.parse(fewerSince) + idleAfter - now.getTime();
}
