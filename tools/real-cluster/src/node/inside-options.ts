import { z } from "zod";

/** The argument of the process inside, as JSON. */
export const insideOptions = z.object({
  /** The programs of `buildRealCluster`. */
  bin: z.string(),
  /** The cluster's folder. */
  dir: z.string(),
  apiServerArgs: z.array(z.string()),
});
export type InsideOptions = z.output<typeof insideOptions>;

/** The line that the process inside prints when the node is ready. */
export const readyLine = "The node is ready";
