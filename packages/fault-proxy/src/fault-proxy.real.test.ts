import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll } from "vitest";
import { faultProxyContract } from "./fault-proxy.contract.ts";

let cluster: RealCluster;

beforeAll(async () => (cluster = await startRealCluster()), 900_000);
afterAll(() => cluster.stop());

faultProxyContract("a real API server", () => ({ upstream: cluster, kubeconfig: cluster.kubeconfig }));
