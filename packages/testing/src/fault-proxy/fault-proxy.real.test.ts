import { type RealCluster, type StaleView, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, it } from "vitest";
import { authorized, faultProxyContract } from "./fault-proxy.contract.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { noFaults } from "./plan/faults.ts";
import { staleContract } from "./stale.contract.ts";

let cluster: RealCluster;
let view: StaleView;

beforeAll(async () => {
  cluster = await startRealCluster();
  view = await cluster.startStaleView();
}, 900_000);
afterAll(() => cluster.stop());

const server = () => ({ upstream: cluster, kubeconfig: cluster.kubeconfig });
faultProxyContract("a real API server", server);
staleContract("a real API server", () => ({ server: server(), view: { ...view, upstream: view } }));

it("a frozen API server answers reads from its cache, and hangs on calls that need etcd", async () => {
  const frozen: FaultProxy = await startFaultProxy({ upstream: view, decider: noFaults });
  const collection = "/api/v1/namespaces/default/configmaps";
  view.freeze();
  try {
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(frozen.url + path, { ...init, headers: authorized(frozen) });
    expect((await ask(`${collection}?resourceVersion=0`)).status).toBe(200);
    const hurried = (path: string) => ask(path, { signal: AbortSignal.timeout(2_000) });
    await expect(hurried(collection)).rejects.toThrow("timeout");
    await expect(hurried(`${collection}/any`)).rejects.toThrow("timeout");
    const { status } = await ask(`${collection}?resourceVersion=${2 ** 40}`);
    // "Too large resource version": the answer of a lagging server to a client with a newer version.
    expect(status).toBe(504);
  } finally {
    view.thaw();
    await frozen.close();
  }
});
