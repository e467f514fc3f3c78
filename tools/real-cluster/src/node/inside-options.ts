import { z } from "zod";

/** What the process outside says to the one inside, as one argument in JSON. */
export const insideOptions = z.object({
  /** The programs of `buildRealCluster`. */
  bin: z.string(),
  /** The cluster's folder. */
  dir: z.string(),
  apiServerArgs: z.array(z.string()),
});
export type InsideOptions = z.output<typeof insideOptions>;

/** What the process inside writes when the node is ready. */
export const readyLine = "The node is ready";
