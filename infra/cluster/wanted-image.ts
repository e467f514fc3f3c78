import { z } from "zod";

/** An image to be made and pushed to a cluster's registry. */
export const wantedImage = z.object({
  /**
   * What is in it: a process that `infra/bundle.ts` knows, or one that `entry` starts; `node`, which is Node alone;
   * `valkey`; or `s3`, an S3 server that listens on port 5000.
   */
  of: z.string(),
  /** For a process of a test: the file that starts it, relative to the root of the checkout. */
  entry: z.string().optional(),
  /** What it is called, as in `drover/bridge:1`. */
  as: z.string(),
});
export type WantedImage = z.output<typeof wantedImage>;

/** Images that hold no process of ours. */
export const partNames: ReadonlySet<string> = new Set(["node", "valkey", "s3"]);

/** What the process that builds is told, as one argument in JSON. */
export const pushOptions = z.object({
  /** Where files are gathered, and images kept for the next time. */
  dir: z.string(),
  /** `host:port` of the registry, which speaks plain HTTP. */
  registry: z.string(),
  images: z.array(wantedImage),
});
