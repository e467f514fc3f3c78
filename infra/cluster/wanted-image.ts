import { z } from "zod";

const named = z.object({
  /** Its name, as in `drover/bridge:1`. */
  as: z.string(),
});

/** An image of a process, or of what it needs, to be made and pushed to a cluster's registry. */
const ofProcess = named.extend({
  /**
   * Its content: a process that `infra/bundle.ts` knows, or one that `entry` starts; `node`, which is Node alone;
   * `valkey`; `redis-7`, which has TLS, in its place; or `s3`, an S3 server that listens on port 5000.
   */
  of: z.string(),
  /** For a process of a test: the file that starts it, relative to the root of the checkout. */
  entry: z.string().optional(),
});

/** One that is made by its own Dockerfile, which takes BASE as ours do. */
const ofFolder = named.extend({ folder: z.string() });

export const wantedImage = z.union([ofProcess, ofFolder]);
export type WantedImage = z.output<typeof wantedImage>;

/** Images that hold no process of ours. */
export const partNames: ReadonlySet<string> = new Set(["node", "valkey", "redis-7", "s3"]);

/** The argument of push-inside.ts, as JSON. */
export const pushOptions = z.object({
  /** Where files are gathered, and images kept for the next time. */
  dir: z.string(),
  /** `host:port` of the registry, which speaks plain HTTP. */
  registry: z.string(),
  images: z.array(wantedImage),
});
