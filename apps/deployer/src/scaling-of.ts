import { type ReconcileFunctionSpec, type Scaling, usualPace, usualScaling } from "@drover/controller";

/** How a function scales, and how many runs a Pod of it does at once: as its spec says, else as usual. */
export const scalingOf = ({
  scaling = usualScaling,
  concurrency = usualPace.concurrency,
}: ReconcileFunctionSpec): Scaling & { readonly concurrency: number } => ({ ...scaling, concurrency });
