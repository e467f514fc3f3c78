import type { WorkloadRunContext } from "@drover/workloads";
import type { Service, ServiceObject } from "./service.ts";

/** The common parts of all steps of a run. */
export interface EndpointSliceRunContext extends WorkloadRunContext<typeof Service> {
  readonly service: ServiceObject;
  readonly maxEndpointsPerSlice: number;
}
