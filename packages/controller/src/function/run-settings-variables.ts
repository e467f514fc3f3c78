import type { EnvVar } from "./function-pod.ts";
import type { ReconcileFunctionSpec } from "./reconcile-function.ts";

/** Environment variables that override the pace settings in a function's code; only for settings that are given. */
export const runSettingsVariables = ({
  concurrency,
  resyncEvery,
  timeout,
  retry,
  limits,
}: Partial<ReconcileFunctionSpec>): readonly EnvVar[] => [
  ...variable("DROVER_CONCURRENCY", concurrency),
  ...variable("DROVER_RESYNC_EVERY", resyncEvery),
  ...variable("DROVER_TIMEOUT", timeout),
  ...variable("DROVER_RETRY_FIRST", retry?.first),
  ...variable("DROVER_RETRY_LONGEST", retry?.longest),
  ...variable("DROVER_RETRY_ATTEMPTS", retry?.attempts),
  ...variable("DROVER_RUNS_PER_SECOND", limits?.runs?.perSecond),
  ...variable("DROVER_RUNS_BURST", limits?.runs?.burst),
];

const variable = (name: string, value: string | number | undefined): readonly EnvVar[] =>
  value === undefined ? [] : [{ name, value: String(value) }];
