import type { Milliseconds } from "@drover/controller";

/**
 * A listing that was requested so long ago does not show that a cached object is new: the ledger may have forgotten
 * later runs of its key. Shorter than `goneKeyTtl`, to allow for differences between clocks and for slow calls.
 */
export const maxListingAge: Milliseconds = 50_000;

/**
 * Maximum bytes of all cached objects. One is kept only if one of its size for every ready key would stay below this.
 */
export const maxCachedObjectBytes = 67_108_864;

/** How long the object and the lists that a run left are kept, unless it gives another time. */
export const cachedObjectTtl: Milliseconds = 10_000;

/** Maximum bytes of a key's deltas; with more, the next run lists live. */
export const maxDeltaBytes = 65_536;

/** Bytes of what a run has seen, for one key: each change is compared with them. */
export const maxSeenBytes = 8_192;
