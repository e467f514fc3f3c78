import type { Milliseconds } from "@drover/controller";

/** How many Pods there are to be, and since when fewer would do; times are ISO 8601. */
export interface Scaled {
  readonly wanted: number;
  readonly fewerSince?: string | undefined;
  /** The most that were wanted since then. */
  readonly fewer?: number | undefined;
}

/**
 * The next number of Pods. More are made at once; fewer only after fewer were wanted for `idleAfter`, and then as many as
 * were wanted at most in that time (as a HorizontalPodAutoscaler's stabilization window has it).
 */
export function rescale(
  before: Scaled | undefined,
  wanted: number,
  { idleAfter, now }: { readonly idleAfter: Milliseconds; readonly now: Date },
): Scaled {
  if (before === undefined || wanted >= before.wanted) return { wanted };
  const fewerSince = notLater(before.fewerSince, now);
  const fewer = Math.max(before.fewer ?? 0, wanted);
  return idleLeft({ fewerSince }, { idleAfter, now }) > 0
    ? { wanted: before.wanted, fewerSince, fewer }
    : { wanted: fewer };
}

/** A time that another deployer wrote, whose clock may be ahead: one that is still to come would hold Pods for that long. */
const notLater = (time: string | undefined, now: Date): string =>
  time !== undefined && Date.parse(time) <= now.getTime() ? time : now.toISOString();

/** How long it is until there may be fewer Pods; Infinity when there need not be. */
export function idleLeft(
  { fewerSince }: Pick<Scaled, "fewerSince">,
  { idleAfter, now }: { readonly idleAfter: Milliseconds; readonly now: Date },
): Milliseconds {
  return fewerSince === undefined ? Infinity : Date.parse(fewerSince) + idleAfter - now.getTime();
}
