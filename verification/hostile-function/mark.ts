import { z } from "zod";

/** What the hostile function writes: where it stands in a key that is not its own, it has written there. */
export const hostileMark = "written-by-the-hostile-function";

/** Calls of the hostile function by what came of them, as it prints them. */
export type HostileCounts = z.output<typeof countsSchema>;
export const countsSchema = z.object({
  done: z.number(),
  denied: z.number(),
  full: z.number(),
  refused: z.number(),
});
