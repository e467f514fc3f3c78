import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, describe } from "vitest";
import { testClusterContract } from "./test-cluster.contract.ts";
import { sharedServer } from "./test-server.ts";

let cluster: RealCluster;
beforeAll(async () => {
  cluster = await startRealCluster();
});
afterAll(() => cluster.stop());

describe("a test cluster, on a real API server", () => testClusterContract(() => sharedServer(cluster)));
