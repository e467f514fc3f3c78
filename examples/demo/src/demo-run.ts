import type { DemoConfig } from "./config.ts";
import type { StoppablePart } from "./close-in-order.ts";
import type { Narrator } from "./story/narrator.ts";
import type { RunFolder } from "./run-folder.ts";
import type { StopRequest } from "./stop-request.ts";

/** The command's options. Servers that are not given are started by the run. */
export interface DemoOptions {
  readonly kubeconfig?: string | undefined;
  /** A context of `kubeconfig`. */
  readonly context?: string | undefined;
  /** URL of a Redis. */
  readonly redis?: string | undefined;
  /** URL of an S3 server. */
  readonly s3?: string | undefined;
  readonly s3Region: string;
  readonly dir: string;
}

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
