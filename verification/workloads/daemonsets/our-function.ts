import { type OurFunctions, startFunctions } from "../our-functions.ts";
import type { SubjectOptions } from "../subjects.ts";
import type { Administered } from "../sequences/accounts.ts";

/** Drover's function for DaemonSets. */
export const start = (cluster: Administered, options?: SubjectOptions): Promise<OurFunctions> =>
  startFunctions(cluster, ["daemonset"], options);
