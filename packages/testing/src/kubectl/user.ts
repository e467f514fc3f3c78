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

/** A manifest, as in a YAML file. */
export interface Manifest extends KindName {
  readonly metadata: {
    readonly name: string;
    /** Default: `default`. */
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** The actions of a user on a cluster. */
export interface User {
  /** The resource of a kind. */
  kind(name: KindName): Promise<ResourceRef>;
  /**
   * Does what `kubectl apply` does: creates the object, or changes it to the manifest. Fields that only the last applied
   * manifest had are removed; fields of other clients stay.
   *
   * @throws ApplyRefusedError if the API server refuses it.
   */
  apply(manifest: Manifest): Promise<KubeObject>;
  /** True if the API server would accept it; nothing is stored. */
  isAcceptable(manifest: Manifest): Promise<boolean>;
  /** Does what `kubectl patch --type merge` does: merges fields into the object. */
  patch(kind: KindName, name: string, fields: object): Promise<KubeObject>;
  /** Merges the manifest's status into the object. */
  writeStatus(manifest: Manifest): Promise<KubeObject>;
  /** @param name `name` in the namespace `default`, `namespace/name`, or of a cluster-scoped kind its name. */
  get(kind: KindName, name: string): Promise<KubeObject | undefined>;
  list(kind: KindName): Promise<readonly KubeObject[]>;
  /** Deletes an object, and has what it owns collected, as kubectl does; returns false if it does not exist. */
  delete(kind: KindName, name: string): Promise<boolean>;
}

/** @param server the client's server. */
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
    async patch(kind, name, body) {
      const { ref, key } = await locate(kind, name);
      return client.patch(ref, key, { type: "merge", body });
    },
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
      return client.delete(ref, key, { propagationPolicy: "Background" });
    },
  };
}

/** Installs the CRDs of controllers, and more. */
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
