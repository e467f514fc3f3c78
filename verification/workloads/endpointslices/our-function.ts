import { type OurFunctions, startFunctions } from "../our-functions.ts";
import type { SubjectOptions } from "../subjects.ts";
import type { Administered } from "../sequences/accounts.ts";
import { maxEndpoints } from "./service.ts";

/** Drover's function for EndpointSlices. */
export const start = (cluster: Administered, options?: SubjectOptions): Promise<OurFunctions> =>
  startFunctions(cluster, ["endpointslice"], {
    ...options,
    settings: new Map([["endpointslice", { DROVER_MAX_ENDPOINTS_PER_SLICE: String(maxEndpoints) }]]),
  });
