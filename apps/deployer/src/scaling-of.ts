import type { ReconcileFunctionSpec, Scaling } from "@drover/controller";

/** Runs at once in one process, where neither the spec says so; what `defineController` takes. */
const usualConcurrency = 8;

/** How a function scales: as its spec says, else from 0 to 10. */
export function scalingOf({
  scaling,
  concurrency,
}: ReconcileFunctionSpec): Scaling & { readonly concurrency: number } {
  return {
    ...{ min: 0, max: 10, idleAfter: "60s", by: "Drover" },
    ...scaling,
    concurrency: concurrency ?? usualConcurrency,
  };
}
