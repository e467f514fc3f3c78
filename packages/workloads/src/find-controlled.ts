import { type KubeObject, listAll, selectorQuery } from "@drover/kube";
import { claimOf, type ClaimParts } from "./ownership.ts";

/** All objects that match an owner's selector, in the newest state: whoever owns them. */
export const findMatching = ({ client, owner, kind, signal }: ClaimParts): Promise<readonly KubeObject[]> =>
  listAll(client, kind, {
    ...{ namespace: owner.metadata.namespace, labelSelector: selectorQuery(owner.selector), signal },
  });

/**
 * Those that an owner controls though its selector does not match them, or no longer: what it is to release. It looks at
 * the metadata of every object of the namespace, and is for when one is missed.
 *
 * @param fieldSelector which of them may be released; left out: all.
 */
export async function findStrayed(
  { client, owner, kind, signal }: ClaimParts,
  fieldSelector?: string,
): Promise<readonly KubeObject[]> {
  const { namespace } = owner.metadata;
  const all = await listAll(client, kind, { namespace, fieldSelector, metadataOnly: true, signal });
  return all.filter((object) => claimOf(owner, object) === "release");
}
