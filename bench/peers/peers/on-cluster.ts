import { connect, type KubeClient } from "@drover/kube";

/** What a contestant finds on the API server, or leaves there, besides Gauges. */
export async function onCluster(
  kubeconfig: string,
  work: (client: KubeClient) => Promise<void>,
): Promise<void> {
  const client = await connect({ kubeconfig });
  try {
    await work(client);
  } finally {
    await client.close();
  }
}
