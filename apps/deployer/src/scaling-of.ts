import { type ReconcileFunctionSpec, type Scaling, usualPace, usualScaling } from "@drover/controller";

/** How a function scales, and how many runs one of its Pods does at once: from its spec, or by default. */
export const scalingOf = ({
  scaling = usualScaling,
  concurrency = usualPace.concurrency,
}: ReconcileFunctionSpec): Scaling & { readonly concurrency: number } => ({ ...scaling, concurrency });
