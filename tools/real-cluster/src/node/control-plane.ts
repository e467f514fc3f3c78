import { startApiServer } from "../api-server.ts";
import { type ControlPlane, managerFlags, startClient } from "../control-plane-client.ts";
import { startEtcd } from "../etcd.ts";
import { apiServerPort, nodeAddress } from "./layout.ts";

/** Starts etcd, the API server, and behind them the controller manager and the scheduler. */
export async function startControlPlane(
  plane: ControlPlane,
  apiServerArgs: readonly string[],
): Promise<void> {
  const { bin, dir, pki } = plane;
  const { endpoint } = await startEtcd({ bin, dir, signal: undefined });
  await startApiServer(
    { bin, dir, pki, etcdEndpoint: endpoint, nodeAddress, extraArgs: apiServerArgs },
    apiServerPort,
    undefined,
  );
  await Promise.all([
    startClient(plane, "kube-controller-manager", "controller-manager", [
      ...managerFlags(pki),
      // A small cluster that is to be quick.
      ...["--kube-api-qps=200", "--kube-api-burst=400"],
    ]),
    startClient(plane, "kube-scheduler", "scheduler", [
      ...["--bind-address=127.0.0.1", "--leader-elect=false"],
    ]),
  ]);
}
