import type { RealCluster } from "@drover/real-cluster";
import { afterAll } from "vitest";
import { deployments } from "./deployments/family.ts";
import { type OurFunctions, startFunctions } from "./our-functions.ts";
import type { Administered } from "./sequences/accounts.ts";

/** A cluster, and our functions in it, for the tests of a file; both end with the file. */
export async function oursOfFile<Cluster extends Administered & Pick<RealCluster, "stop">>(
  starting: Promise<Cluster>,
): Promise<{ readonly cluster: Cluster; readonly ours: OurFunctions }> {
  const cluster = await starting;
  afterAll(() => cluster.stop());
  const ours = await startFunctions(cluster, [deployments]);
  afterAll(() => ours.stop());
  return { cluster, ours };
}
