import { connect, installCrd, type KubeClient, type ResourceRef } from "@drover/kube";

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

/** Installs a contestant's kind. */
export async function installKind(
  client: KubeClient,
  { group, version, plural, kind, namespaced }: ResourceRef,
  { schema, ...more }: { readonly schema: object; readonly subresources?: object },
): Promise<void> {
  await installCrd(client, {
    // Some names end in k8s.io, and are refused without it.
    metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved" } },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        { name: version, served: true, storage: true, ...more, schema: { openAPIV3Schema: schema } },
      ],
    },
  });
}
