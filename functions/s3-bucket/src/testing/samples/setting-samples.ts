import { accessSamples } from "./access-samples.ts";
import { coreSamples } from "./core-samples.ts";
import { flowSamples } from "./flow-samples.ts";
import { keyedSamples } from "./keyed-samples.ts";
import type { SettingSample } from "./setting-sample.ts";

/** A sample of every setting. */
export const settingSamples: readonly SettingSample[] = [
  ...coreSamples,
  ...flowSamples,
  ...accessSamples,
  ...keyedSamples,
];
