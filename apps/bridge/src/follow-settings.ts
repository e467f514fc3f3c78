import { plain, processSettings, span } from "@drover/runtime";
import type { z } from "zod";

/** The settings of every process that follows kinds. */
export const followSettings = processSettings.extend({
  /** How often what a stream told is compared with a listing, which finds what its watch has missed. */
  compareEvery: plain(span.default(30 * 60_000)),
});
export type FollowSettings = z.output<typeof followSettings>;
