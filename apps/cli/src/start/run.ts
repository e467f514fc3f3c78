import type { CliConfig } from "../config.ts";
import type { Opened } from "./closing.ts";
import type { Narrator } from "./narrator.ts";
import type { RunFolder } from "./run-folder.ts";
import type { StopRequest } from "./stop-request.ts";

/** What a person asked for. What is left out is started here. */
export interface StartOptions {
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

/** One `drover start`, and what all its parts share. */
export interface Run {
  readonly options: StartOptions;
  readonly config: CliConfig;
  readonly folder: RunFolder;
  readonly narrator: Narrator;
  readonly request: StopRequest;
  /** What has been started, in that order. Whoever starts something puts it here at once. */
  readonly opened: Opened[];
}
