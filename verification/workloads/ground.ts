import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeClient } from "@drover/kube";
import { type FakeNodeCluster, startClusterWithFakeNodes } from "@drover/real-cluster";
import type { Family } from "./family.ts";
import { observe, type Observer } from "./observe.ts";

/** A control plane with the nodes and flags that families need, and watches of all their kinds. */
export interface Ground {
  readonly cluster: FakeNodeCluster;
  readonly client: KubeClient;
  readonly observer: Observer;
  readonly stop: () => Promise<void>;
}

/** With several families, the scheduler uses the first node only, as it does with a family that has one node. */
export async function layGround(families: readonly Family[], log: (line: string) => void): Promise<Ground> {
  const nodes = families
    .map((family) => family.nodes ?? [{}])
    .reduce((a, b) => (b.length > a.length ? b : a));
  const cluster = await startClusterWithFakeNodes({
    nodes: nodes.length,
    controllerManagerArgs: families.flatMap((family) => family.controllerManagerArgs ?? []),
    log,
  });
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  const stop = async (): Promise<void> => {
    await client.close();
    await cluster.stop();
  };
  try {
    for (const [i, labels] of nodes.entries()) {
      const body = { metadata: { labels }, spec: { unschedulable: families.length > 1 && i > 0 } };
      await client.patch(builtin.node, objectKey({ name: `fake-${i}` }), { type: "merge", body });
    }
    const observer = await observe(client, [...new Set(families.flatMap(({ kinds }) => kinds))]);
    return {
      cluster,
      client,
      observer,
      stop: () => {
        observer.close();
        return stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
