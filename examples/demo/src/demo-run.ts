import { z } from "zod";
import type { DemoConfig } from "./config.ts";
import type { StoppablePart } from "./close-in-order.ts";
import type { Narrator } from "./story/narrator.ts";
import type { RunFolder } from "./run-folder.ts";
import type { StopRequest } from "./stop-request.ts";

/** The command's options. Servers that are not given are started by the run. */
export const demoOptions = z.object({
  kubeconfig: z.string().optional(),
  /** A context of `kubeconfig`. */
  context: z.string().optional(),
  /** URL of a Redis. */
  redis: z.string().optional(),
  /** URL of an S3 server. */
  s3: z.string().optional(),
  s3Region: z.string(),
  dir: z.string(),
});
export type DemoOptions = Readonly<z.output<typeof demoOptions>>;

/** One run of the demo: the state that its parts share. */
export interface DemoRun {
  readonly options: DemoOptions;
  readonly config: DemoConfig;
  readonly folder: RunFolder;
  readonly narrator: Narrator;
  readonly request: StopRequest;
  /** The parts that have been started, in order. Code that starts a part must add it here at once. */
  readonly opened: StoppablePart[];
}
