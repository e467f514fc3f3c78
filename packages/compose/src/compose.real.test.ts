import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { sharedServer } from "@drover/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { composeContract } from "./contract/compose.contract.ts";

let cluster: RealCluster;
beforeAll(async () => {
  cluster = await startRealCluster();
}, 900_000);
afterAll(() => cluster.stop());

describe("on a real API server", () => composeContract(() => sharedServer(cluster)));
