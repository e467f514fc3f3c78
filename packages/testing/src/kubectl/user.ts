import { type Controller, customResourceDefinition, objectKey, type ObjectKey } from "@drover/controller";
import {
  installCrd,
  type KubeClient,
  type KubeObject,
  listAll,
  type NewObject,
  type ResourceRef,
} from "@drover/kube";
import type { ApiAddress } from "./api-address.ts";
import { isAcceptable, kubectlApply } from "./kubectl-apply.ts";
import { type KindName, servedKinds } from "./served-kinds.ts";

/** An object as people write it down. */
export interface Manifest extends KindName {
  readonly metadata: {
    readonly name: string;
    /** Default: `default`. */
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** What people do to a cluster. */
export interface User {
  /** Where a kind is served. */
  kind(name: KindName): Promise<ResourceRef>;
  /**
   * Does what `kubectl apply` does: creates the object, or changes what is there to what the manifest has. What the manifest
   * had the last time and has no more goes; what others have set stays.
   *
   * @throws ApplyRefusedError where the API server refuses it.
   */
  apply(manifest: Manifest): Promise<KubeObject>;
  /** Whether the API server would accept it; nothing is kept. */
  isAcceptable(manifest: Manifest): Promise<boolean>;
  /** Writes the manifest's status over what is there. */
  writeStatus(manifest: Manifest): Promise<KubeObject>;
  /** @param name `name` in the namespace `default`, `namespace/name`, or of a cluster-scoped kind its name. */
  get(kind: KindName, name: string): Promise<KubeObject | undefined>;
  list(kind: KindName): Promise<readonly KubeObject[]>;
  /** Asks for deletion. False when there was nothing to delete. */
  delete(kind: KindName, name: string): Promise<boolean>;
}

/** @param server the one that the client leads to. */
export function openUser(client: KubeClient, server: ApiAddress): User {
  const served = servedKinds(server);
  const locate = async (kind: KindName, name: string): Promise<{ ref: ResourceRef; key: ObjectKey }> => {
    const ref = await served(kind);
    const [last = "", namespace = "default"] = name.split("/").reverse();
    return { ref, key: objectKey(ref.namespaced ? { namespace, name: last } : { name: last }) };
  };
  const placed = async ({
    apiVersion,
    kind,
    ...manifest
  }: Manifest): Promise<readonly [ResourceRef, NewObject]> => {
    const ref = await served({ apiVersion, kind });
    const { namespace = "default", ...metadata } = manifest.metadata;
    return [ref, { ...manifest, metadata: { ...metadata, ...(ref.namespaced && { namespace }) } }];
  };
  return {
    kind: served,
    apply: async (manifest) => kubectlApply({ client, server }, ...(await placed(manifest))),
    isAcceptable: async (manifest) => isAcceptable({ client, server }, ...(await placed(manifest))),
    async writeStatus({ status, metadata, ...kind }) {
      const { ref, key } = await locate(kind, [metadata.namespace, metadata.name].filter(Boolean).join("/"));
      return client.patch(ref, key, { type: "merge", body: { status } }, { subresource: "status" });
    },
    async get(kind, name) {
      const { ref, key } = await locate(kind, name);
      return client.get(ref, key);
    },
    list: async (kind) => listAll(client, await served(kind)),
    async delete(kind, name) {
      const { ref, key } = await locate(kind, name);
      return client.delete(ref, key);
    },
  };
}

/** Has a cluster serve the kinds of controllers, and others that are not Kubernetes' own. */
export async function installKinds(
  client: KubeClient,
  controllers: readonly Controller[],
  more: readonly NewObject[] = [],
): Promise<void> {
  const own = controllers
    .filter(({ for: { foreign } }) => !foreign)
    .map(({ for: resource }): NewObject => ({ ...customResourceDefinition(resource) }));
  for (const crd of [...own, ...more]) await installCrd(client, crd);
}
