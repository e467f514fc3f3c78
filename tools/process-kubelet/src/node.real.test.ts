import { startRealCluster } from "@drover/real-cluster";
import { nodeContract } from "./node.contract.ts";

nodeContract(async () => {
  // Services' addresses from loopback, as the sandbox gives them.
  const cluster = await startRealCluster({ apiServerArgs: ["--service-cluster-ip-range=127.1.0.0/16"] });
  return { kubeconfig: cluster.kubeconfig, stop: () => cluster.stop() };
});
