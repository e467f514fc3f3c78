import { startRealCluster } from "@drover/real-cluster";
import { nodeContract } from "./node.contract.ts";

nodeContract(async () => {
  const { kubeconfig, stop } = await startRealCluster();
  return { kubeconfig, stop };
});
