import { functionSettings, nonSecret, readSettings, wholeNumber } from "@drover/runtime";
import { defaultMaxEndpoints } from "./endpoint-slice-controller.ts";

const settings = functionSettings.extend({
  /** Maximum number of endpoints in a slice: `--max-endpoints-per-slice` of kube-controller-manager. */
  maxEndpointsPerSlice: nonSecret(wholeNumber({ least: 1, most: 1_000 }).default(defaultMaxEndpoints)),
});

/** The settings of this process, from its environment. */
export const functionConfig = () => readSettings(settings, process.env);
