import { type OurFunctions, startFunctions } from "../our-functions.ts";
import type { Administered } from "../sequences/accounts.ts";

/** Drover's function for DaemonSets. */
export const start = (cluster: Administered): Promise<OurFunctions> => startFunctions(cluster, ["daemonset"]);
