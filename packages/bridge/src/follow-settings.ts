import { nonSecret, processSettings, durationInMs } from "@drover/runtime";
import type { z } from "zod";

/** The settings of every process that watches kinds. */
export const followSettings = processSettings.extend({
  /** How often a stream compares the emitted changes with a list, to find changes that its watch missed. */
  compareEvery: nonSecret(durationInMs.default(30 * 60_000)),
});
export type FollowSettings = z.output<typeof followSettings>;
