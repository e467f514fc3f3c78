import { functionSettings, nonSecret, readSettings, wholeNumber } from "@drover/runtime";
import { z } from "zod";
import { defaultMaxEndpoints } from "./endpoint-slice-controller.ts";

/** The function's own settings: `maxEndpointsPerSlice` is `DROVER_MAX_ENDPOINTS_PER_SLICE`. */
export const endpointSliceConfigSchema = z.object({
  /** Maximum number of endpoints in a slice: `--max-endpoints-per-slice` of kube-controller-manager. */
  maxEndpointsPerSlice: nonSecret(wholeNumber({ least: 1, most: 1_000 }).default(defaultMaxEndpoints)),
});

/** The settings of this process, from its environment. */
export const functionConfig = () =>
  readSettings(functionSettings.extend(endpointSliceConfigSchema.shape), process.env);
