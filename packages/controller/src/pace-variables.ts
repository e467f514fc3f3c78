import type { Variable } from "./function-pod.ts";
import type { ReconcileFunctionSpec } from "./reconcile-function.ts";

/** What a function's process is told of its pace, where that is to be another than its code says. */
export const paceVariables = ({
  concurrency,
  resyncEvery,
  timeout,
  retry,
  limits,
}: Partial<ReconcileFunctionSpec>): readonly Variable[] => [
  ...variable("DROVER_CONCURRENCY", concurrency),
  ...variable("DROVER_RESYNC_EVERY", resyncEvery),
  ...variable("DROVER_TIMEOUT", timeout),
  ...variable("DROVER_RETRY_FIRST", retry?.first),
  ...variable("DROVER_RETRY_LONGEST", retry?.longest),
  ...variable("DROVER_RETRY_ATTEMPTS", retry?.attempts),
  ...variable("DROVER_RUNS_PER_SECOND", limits?.runs?.perSecond),
  ...variable("DROVER_RUNS_BURST", limits?.runs?.burst),
];

const variable = (name: string, value: string | number | undefined): readonly Variable[] =>
  value === undefined ? [] : [{ name, value: String(value) }];
