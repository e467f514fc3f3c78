import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { endpointSliceController } from "./endpoint-slice-controller.ts";

await runFunction({
  name: "endpointslice",
  settings: functionConfig,
  controller: ({ maxEndpointsPerSlice }) => ({
    controller: endpointSliceController({ maxEndpointsPerSlice }),
  }),
});
