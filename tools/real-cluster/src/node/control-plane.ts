import { startApiServer } from "../api-server.ts";
import { type ControlPlane, startClient } from "../control-plane-client.ts";
import { type ControllerManager, controllerManager } from "../controller-manager.ts";
import { startEtcd } from "../etcd.ts";
import { apiServerPort, nodeAddress } from "./layout.ts";

/** Starts etcd, the API server, and behind them the scheduler and all controllers. */
export async function startControlPlane(
  plane: ControlPlane,
  apiServerArgs: readonly string[],
): Promise<ControllerManager> {
  const { bin, dir, pki } = plane;
  const { endpoint } = await startEtcd({ bin, dir, signal: undefined });
  await startApiServer(
    { bin, dir, pki, etcdEndpoint: endpoint, nodeAddress, extraArgs: apiServerArgs },
    apiServerPort,
    undefined,
  );
  // A small cluster that is to be quick.
  const manager = controllerManager(plane, ["--kube-api-qps=200", "--kube-api-burst=400"]);
  await Promise.all([
    manager.runControllers(["*"]),
    startClient(plane, "kube-scheduler", "scheduler", [
      ...["--bind-address=127.0.0.1", "--leader-elect=false"],
    ]),
  ]);
  return manager;
}
