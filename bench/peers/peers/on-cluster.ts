import { connect, installCrd, type KubeClient, type ResourceRef } from "@drover/kube";
import { crdOf } from "../../../verification/harness/manifests.ts";

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
  { namespaced, ...kind }: ResourceRef,
  { schema, subresources = {} }: { readonly schema: object; readonly subresources?: object },
): Promise<void> {
  const scope = namespaced ? "Namespaced" : "Cluster";
  const { metadata, ...rest } = crdOf({ ...kind, scope, openAPIV3Schema: schema, more: { subresources } });
  // Some names end in k8s.io, and are refused without it.
  const annotations = { "api-approved.kubernetes.io": "unapproved" };
  await installCrd(client, { ...rest, metadata: { ...metadata, annotations } });
}
