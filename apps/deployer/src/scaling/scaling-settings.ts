import {
  type ReconcileFunctionSpec,
  type Scaling,
  defaultRunSettings,
  defaultScaling,
} from "@drover/controller";

/** How a function scales, and how many runs one of its Pods does at once: from its spec, or by default. */
export const scalingSettings = ({
  scaling = defaultScaling,
  concurrency = defaultRunSettings.concurrency,
}: ReconcileFunctionSpec): Scaling & { readonly concurrency: number } => ({ ...scaling, concurrency });

/** The number of Pods that KEDA has written: 0, the default, is none, and its minimum holds. */
export const setByKeda = ({ min, replicas = 0 }: Pick<Scaling, "min" | "replicas">): number =>
  replicas || min;
