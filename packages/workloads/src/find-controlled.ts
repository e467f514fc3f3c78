import {
  type KubeClient,
  type KubeObject,
  listAll,
  type RequestOptions,
  type ResourceRef,
  selectorQuery,
} from "@drover/kube";
import { claimOf, type Owner } from "./ownership.ts";

export interface FindParts extends RequestOptions {
  readonly client: KubeClient;
  readonly owner: Owner;
  readonly kind: ResourceRef;
}

/** All objects that match an owner's selector, in the newest state: whoever owns them. */
export const findMatching = (parts: FindParts): Promise<readonly KubeObject[]> =>
  listAll(parts.client, parts.kind, {
    ...within(parts),
    labelSelector: selectorQuery(parts.owner.selector),
  });

/**
 * Those that an owner controls though its selector does not match them, or no longer: what it is to release. It looks at
 * the metadata of every object of the namespace, and is for when one is missed.
 */
export async function findStrayed(parts: FindParts): Promise<readonly KubeObject[]> {
  const all = await listAll(parts.client, parts.kind, { ...within(parts), metadataOnly: true });
  return all.filter((object) => claimOf(parts.owner, object) === "release");
}

const within = ({ owner, signal }: FindParts) => ({
  namespace: owner.metadata.namespace,
  ...(signal && { signal }),
});
